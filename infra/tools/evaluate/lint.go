package main

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// What a declaration has to say.
var wanted = map[string][]string{
	"variable": {"description", "type"},
	"output":   {"description", "value"},
	"resource": {"for_each"},
	"module":   {"source"},
	"locals":   nil,
	"provider": nil, "terraform": nil,
}

// lint finds declarations that say too little, that nothing uses, and blocks that this program does not know.
func (read *module) lint() error {
	used := read.used()
	for kind, blocks := range read.blocks {
		needed, isKnown := wanted[kind]
		for _, block := range blocks {
			if !isKnown {
				return fmt.Errorf("%s: a block %s is not known here", block.Range(), kind)
			}
			for _, name := range needed {
				if block.Body.Attributes[name] == nil {
					return fmt.Errorf("%s: %s %v lacks %s", block.Range(), kind, block.Labels, name)
				}
			}
			if kind == "variable" && !used["var."+block.Labels[0]] {
				return fmt.Errorf("%s: nothing uses variable %s", block.Range(), block.Labels[0])
			}
		}
	}
	for name, attribute := range read.locals {
		if !used["local."+name] {
			return fmt.Errorf("%s: nothing uses local %s", attribute.Range(), name)
		}
	}
	return nil
}

// used is every `var.name` and `local.name` in the files.
func (read *module) used() map[string]bool {
	found := map[string]bool{}
	for _, blocks := range read.blocks {
		for _, block := range blocks {
			_ = hclsyntax.VisitAll(block.Body, func(node hclsyntax.Node) hcl.Diagnostics {
				if expression, ok := node.(*hclsyntax.ScopeTraversalExpr); ok && len(expression.Traversal) > 1 {
					if attribute, ok := expression.Traversal[1].(hcl.TraverseAttr); ok {
						found[expression.Traversal.RootName()+"."+attribute.Name] = true
					}
				}
				return nil
			})
		}
	}
	return found
}
