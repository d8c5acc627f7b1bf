package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
)

// module is a folder's files: their blocks by type, and what is known so far.
type module struct {
	folder string
	blocks map[string][]*hclsyntax.Block
	locals hclsyntax.Attributes
	known  map[string]cty.Value // what `var`, `local` and so on stand for
}

func evaluate(folder string, given map[string]cty.Value) (outputs, resources map[string]cty.Value, err error) {
	read, err := load(folder)
	if err != nil {
		return nil, nil, err
	}
	for _, step := range []func() error{
		read.lint,
		func() error { return read.setVariables(given) },
		read.setLocals,
		read.setModules,
		read.declareResources,
	} {
		if err = step(); err != nil {
			return nil, nil, err
		}
	}
	if resources, err = read.expandResources(); err != nil {
		return nil, nil, err
	}
	outputs = map[string]cty.Value{}
	for _, block := range read.blocks["output"] {
		if outputs[block.Labels[0]], err = read.value(block.Body.Attributes["value"].Expr, nil); err != nil {
			return nil, nil, err
		}
	}
	return outputs, resources, nil
}

func load(folder string) (*module, error) {
	folder, err := filepath.Abs(folder)
	if err != nil {
		return nil, err
	}
	paths, _ := filepath.Glob(filepath.Join(folder, "*.tf"))
	if len(paths) == 0 {
		return nil, fmt.Errorf("%s: there are no files for OpenTofu here", folder)
	}
	read := &module{folder, map[string][]*hclsyntax.Block{}, hclsyntax.Attributes{}, map[string]cty.Value{}}
	read.known["path"] = cty.ObjectVal(map[string]cty.Value{"module": cty.StringVal(folder)})
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		file, faults := hclsyntax.ParseConfig(text, path, hcl.InitialPos)
		if faults.HasErrors() {
			return nil, faults
		}
		if !bytes.Equal(hclwrite.Format(text), text) {
			return nil, fmt.Errorf("%s: not formatted: tofu fmt", path)
		}
		for _, block := range file.Body.(*hclsyntax.Body).Blocks {
			read.blocks[block.Type] = append(read.blocks[block.Type], block)
		}
	}
	for _, block := range read.blocks["locals"] {
		for name, attribute := range block.Body.Attributes {
			read.locals[name] = attribute
		}
	}
	return read, nil
}

// value evaluates with what is known, and more where there is more.
func (read *module) value(expression hclsyntax.Expression, more map[string]cty.Value) (cty.Value, error) {
	context := &hcl.EvalContext{Variables: map[string]cty.Value{}, Functions: functions}
	for _, source := range []map[string]cty.Value{read.known, more} {
		for name, value := range source {
			context.Variables[name] = value
		}
	}
	value, faults := expression.Value(context)
	if faults.HasErrors() {
		return cty.NilVal, faults
	}
	return value, nil
}

func (read *module) setVariables(given map[string]cty.Value) error {
	values := map[string]cty.Value{}
	for _, block := range read.blocks["variable"] {
		name := block.Labels[0]
		wanted, optional, faults := typeexpr.TypeConstraintWithDefaults(block.Body.Attributes["type"].Expr)
		if faults.HasErrors() {
			return faults
		}
		value, isGiven := given[name]
		if standard := block.Body.Attributes["default"]; !isGiven {
			if standard == nil {
				return fmt.Errorf("%s: variable %s has no value", block.Range(), name)
			}
			var err error
			if value, err = read.value(standard.Expr, nil); err != nil {
				return err
			}
		}
		if optional != nil {
			value = optional.Apply(value)
		}
		converted, err := convert.Convert(value, wanted)
		if err != nil {
			return fmt.Errorf("%s: variable %s: %w", block.Range(), name, err)
		}
		values[name] = converted
	}
	read.known["var"] = cty.ObjectVal(values)
	return read.validate()
}

func (read *module) validate() error {
	for _, variable := range read.blocks["variable"] {
		for _, rule := range variable.Body.Blocks {
			holds, err := read.value(rule.Body.Attributes["condition"].Expr, nil)
			if err != nil {
				return err
			}
			if holds.False() {
				said, _ := read.value(rule.Body.Attributes["error_message"].Expr, nil)
				return fmt.Errorf("%s: %s", rule.Range(), said.AsString())
			}
		}
	}
	return nil
}

// setLocals evaluates each as soon as those that it names are known.
func (read *module) setLocals() error {
	values := map[string]cty.Value{}
	for len(values) < len(read.locals) {
		before := len(values)
		read.known["local"] = cty.ObjectVal(values)
		var last error
		for name, attribute := range read.locals {
			if _, isSet := values[name]; isSet {
				continue
			}
			if value, err := read.value(attribute.Expr, nil); err == nil {
				values[name] = value
			} else {
				last = err
			}
		}
		if len(values) == before {
			return last
		}
	}
	read.known["local"] = cty.ObjectVal(values)
	return nil
}

func (read *module) setModules() error {
	values := map[string]cty.Value{}
	for _, block := range read.blocks["module"] {
		given, err := read.attributes(block.Body, nil)
		if err != nil {
			return err
		}
		folder := filepath.Join(read.folder, given["source"].AsString())
		delete(given, "source")
		outputs, _, err := evaluate(folder, given)
		if err != nil {
			return err
		}
		values[block.Labels[0]] = cty.ObjectVal(outputs)
	}
	read.known["module"] = cty.ObjectVal(values)
	return nil
}
