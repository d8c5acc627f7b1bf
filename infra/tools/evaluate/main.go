// Evaluates a folder of OpenTofu or Terraform files without a cloud, and prints its outputs and resources as JSON.
//
// Usage: evaluate FOLDER VARIABLES, where VARIABLES is a JSON object.
//
// It is the language of the two, evaluated by the library that both use, with the functions that this repository's files
// call. There are no providers: what a resource gets to know when it is made is unknown here, and whether a provider
// knows a resource's arguments is not looked up. Faults end it with status 1 and their places: what does not parse or
// evaluate, what is not formatted, and what is declared without a description or a use.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"
)

const unknown = "(known when it is made)"

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: evaluate FOLDER VARIABLES")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(folder, variables string) error {
	kind, err := ctyjson.ImpliedType([]byte(variables))
	if err != nil {
		return err
	}
	given, err := ctyjson.Unmarshal([]byte(variables), kind)
	if err != nil {
		return err
	}
	outputs, resources, err := evaluate(folder, given.AsValueMap())
	if err != nil {
		return err
	}
	found := cty.ObjectVal(map[string]cty.Value{
		"outputs": cty.ObjectVal(outputs), "resources": cty.ObjectVal(resources),
	})
	known, err := cty.Transform(found, func(_ cty.Path, value cty.Value) (cty.Value, error) {
		if !value.IsKnown() {
			return cty.StringVal(unknown), nil
		}
		return value, nil
	})
	if err != nil {
		return err
	}
	text, err := json.MarshalIndent(ctyjson.SimpleJSONValue{Value: known}, "", "  ")
	if err == nil {
		fmt.Println(string(text))
	}
	return err
}
