package main

import (
	"encoding/base64"
	"os"

	"github.com/hashicorp/hcl/v2/ext/tryfunc"
	yaml "github.com/zclconf/go-cty-yaml"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
)

// Those that the files call.
var functions = map[string]function.Function{
	"alltrue": function.New(&function.Spec{
		Params: []function.Parameter{{Name: "list", Type: cty.List(cty.Bool)}},
		Type:   function.StaticReturnType(cty.Bool),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			for _, value := range args[0].AsValueSlice() {
				if value.False() {
					return cty.False, nil
				}
			}
			return cty.True, nil
		},
	}),
	"base64encode": ofText(func(text string) (string, error) {
		return base64.StdEncoding.EncodeToString([]byte(text)), nil
	}),
	"can":      tryfunc.CanFunc,
	"concat":   stdlib.ConcatFunc,
	"contains": stdlib.ContainsFunc,
	"file": ofText(func(path string) (string, error) {
		text, err := os.ReadFile(path)
		return string(text), err
	}),
	"floor":      stdlib.FloorFunc,
	"join":       stdlib.JoinFunc,
	"keys":       stdlib.KeysFunc,
	"lookup":     stdlib.LookupFunc,
	"merge":      stdlib.MergeFunc,
	"regex":      stdlib.RegexFunc,
	"values":     stdlib.ValuesFunc,
	"yamldecode": yaml.YAMLDecodeFunc,
	"yamlencode": yaml.YAMLEncodeFunc,
}

func ofText(of func(string) (string, error)) function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{{Name: "text", Type: cty.String}},
		Type:   function.StaticReturnType(cty.String),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			result, err := of(args[0].AsString())
			return cty.StringVal(result), err
		},
	})
}
