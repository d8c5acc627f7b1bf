package main

import (
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// declareResources lets resources refer to each other; what they will be is unknown.
func (read *module) declareResources() error {
	types := map[string]map[string]cty.Value{}
	for _, block := range read.blocks["resource"] {
		if types[block.Labels[0]] == nil {
			types[block.Labels[0]] = map[string]cty.Value{}
		}
		types[block.Labels[0]][block.Labels[1]] = cty.DynamicVal
	}
	for name, resources := range types {
		read.known[name] = cty.ObjectVal(resources)
	}
	return nil
}

// expandResources gives each resource's instances, by the keys of its for_each, by its address.
func (read *module) expandResources() (map[string]cty.Value, error) {
	for _, block := range read.blocks["provider"] {
		if _, err := read.attributes(block.Body, nil); err != nil {
			return nil, err
		}
	}
	found := map[string]cty.Value{}
	for _, block := range read.blocks["resource"] {
		each, err := read.value(block.Body.Attributes["for_each"].Expr, nil)
		if err != nil {
			return nil, err
		}
		instances := map[string]cty.Value{}
		for key, value := range each.AsValueMap() {
			more := map[string]cty.Value{"each": pair(cty.StringVal(key), value)}
			if instances[key], err = read.expanded(block.Body, more); err != nil {
				return nil, err
			}
		}
		found[block.Labels[0]+"."+block.Labels[1]] = cty.ObjectVal(instances)
	}
	return found, nil
}

// expanded is a body's attributes, and its blocks by type, dynamic ones as often as they are asked for.
func (read *module) expanded(body *hclsyntax.Body, more map[string]cty.Value) (cty.Value, error) {
	values, err := read.attributes(body, more)
	if err != nil {
		return cty.NilVal, err
	}
	blocks := map[string][]cty.Value{}
	for _, block := range body.Blocks {
		name, contents := block.Type, []map[string]cty.Value{more}
		inner := block.Body
		if block.Type == "dynamic" {
			name, inner = block.Labels[0], block.Body.Blocks[0].Body
			if contents, err = read.repeated(block, more); err != nil {
				return cty.NilVal, err
			}
		}
		for _, content := range contents {
			value, err := read.expanded(inner, content)
			if err != nil {
				return cty.NilVal, err
			}
			blocks[name] = append(blocks[name], value)
		}
	}
	for name, all := range blocks {
		values[name] = cty.TupleVal(all)
	}
	return cty.ObjectVal(values), nil
}

// repeated is what a dynamic block's content knows, each time.
func (read *module) repeated(block *hclsyntax.Block, more map[string]cty.Value) ([]map[string]cty.Value, error) {
	each, err := read.value(block.Body.Attributes["for_each"].Expr, more)
	if err != nil {
		return nil, err
	}
	var contents []map[string]cty.Value
	for elements := each.ElementIterator(); elements.Next(); {
		key, value := elements.Element()
		content := map[string]cty.Value{block.Labels[0]: pair(key, value)}
		for name, known := range more {
			content[name] = known
		}
		contents = append(contents, content)
	}
	return contents, nil
}

func (read *module) attributes(body *hclsyntax.Body, more map[string]cty.Value) (map[string]cty.Value, error) {
	values := map[string]cty.Value{}
	for name, attribute := range body.Attributes {
		if name == "for_each" {
			continue
		}
		value, err := read.value(attribute.Expr, more)
		if err != nil {
			return nil, err
		}
		values[name] = value
	}
	return values, nil
}

func pair(key, value cty.Value) cty.Value {
	return cty.ObjectVal(map[string]cty.Value{"key": key, "value": value})
}
