package main

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// spec is a line of a file: the properties of a kind's spec in one version of a group.
type spec struct {
	Version    string     `json:"version"`
	Kind       string     `json:"kind"`
	Properties []property `json:"properties"`
}

// property is a value of a spec.
type property struct {
	// Path is dotted, "[]" stands for items and "*" for entries.
	Path string `json:"path"`
	// Type is string, int, float64, bool, reference, secret (also of a ConfigMap) or object.
	Type string `json:"type"`
	// ARM is Azure's name of a reference, as the types note it.
	ARM string `json:"arm,omitempty"`
	// Enum are the values that the operator allows.
	Enum []string `json:"enum,omitempty"`
}

// writeTypes writes the properties of all kinds, one file per group.
func writeTypes(module, to string) error {
	dirs, err := filepath.Glob(filepath.Join(module, "api", "*", "v*"))
	if err != nil {
		return err
	}
	groups := map[string][]byte{}
	for _, dir := range dirs {
		version, group := filepath.Base(dir), filepath.Base(filepath.Dir(dir))
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			continue
		}
		types, err := readTypes(dir)
		if err != nil {
			return err
		}
		for _, name := range slices.Sorted(maps.Keys(types.structs)) {
			kind, isSpec := strings.CutSuffix(name, "_Spec")
			if !isSpec {
				continue
			}
			properties, err := types.listProperties("", name)
			if err != nil {
				return fmt.Errorf("%s: %w", dir, err)
			}
			line, err := json.Marshal(spec{version, kind, properties})
			if err != nil {
				return err
			}
			groups[group] = append(append(groups[group], line...), '\n')
		}
	}
	for group, content := range groups {
		if err := os.WriteFile(filepath.Join(to, group+".jsonl"), content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// goTypes are the Go types of one version of an API group.
type goTypes struct {
	structs map[string]*ast.StructType
	// named are the types that are another one, as "type ContainerServiceOSDisk int".
	named map[string]ast.Expr
	enums map[string][]string
}

func readTypes(dir string) (goTypes, error) {
	out := goTypes{structs: map[string]*ast.StructType{}, named: map[string]ast.Expr{}, enums: map[string][]string{}}
	files, err := filepath.Glob(filepath.Join(dir, "*_types_gen.go"))
	if err != nil {
		return out, err
	}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			return out, err
		}
		ast.Inspect(file, func(node ast.Node) bool {
			switch node := node.(type) {
			case *ast.TypeSpec:
				if structure, ok := node.Type.(*ast.StructType); ok {
					out.structs[node.Name.Name] = structure
				} else {
					out.named[node.Name.Name] = node.Type
				}
			case *ast.ValueSpec:
				out.addEnum(node)
			}
			return true
		})
	}
	return out, nil
}

// addEnum adds constants such as AgentPoolMode_System = AgentPoolMode("System").
func (g goTypes) addEnum(node *ast.ValueSpec) {
	for _, value := range node.Values {
		call, ok := value.(*ast.CallExpr)
		if !ok || len(call.Args) != 1 {
			continue
		}
		kind, isKind := call.Fun.(*ast.Ident)
		literal, isLiteral := call.Args[0].(*ast.BasicLit)
		if !isKind || !isLiteral {
			continue
		}
		if text, err := strconv.Unquote(literal.Value); err == nil {
			g.enums[kind.Name] = append(g.enums[kind.Name], text)
		}
	}
}

// listProperties returns the values of a struct.
func (g goTypes) listProperties(path, name string) ([]property, error) {
	structure, ok := g.structs[name]
	if !ok {
		return nil, fmt.Errorf("%s: there is no type %s", path, name)
	}
	var out []property
	for _, field := range structure.Fields.List {
		tag, err := strconv.Unquote(field.Tag.Value)
		if err != nil {
			return nil, err
		}
		key, _, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ",")
		values, err := g.listValues(strings.TrimPrefix(path+"."+key, "."), field.Type)
		if err != nil {
			return nil, err
		}
		for _, p := range values {
			if p.ARM == "?" {
				p.ARM = reflect.StructTag(tag).Get("armReference")
			}
			out = append(out, p)
		}
	}
	return out, nil
}

// listValues returns those of a property of some type.
func (g goTypes) listValues(path string, kind ast.Expr) ([]property, error) {
	switch kind := kind.(type) {
	case *ast.StarExpr:
		return g.listValues(path, kind.X)
	case *ast.ArrayType:
		return g.listValues(path+"[]", kind.Elt)
	case *ast.MapType:
		return g.listValues(path+".*", kind.Value)
	case *ast.SelectorExpr:
		switch kind.Sel.Name {
		case "ResourceReference", "WellKnownResourceReference":
			return []property{{Path: path, Type: "reference", ARM: "?"}}, nil
		case "SecretReference", "ConfigMapReference", "SecretDestination", "ConfigMapDestination":
			return []property{{Path: path, Type: "secret"}}, nil
		}
		return []property{{Path: path, Type: "object"}}, nil // owners and expressions
	case *ast.Ident:
		if slices.Contains([]string{"string", "int", "float64", "bool"}, kind.Name) {
			return []property{{Path: path, Type: kind.Name}}, nil
		}
		if kind.Name == "uint32" || kind.Name == "int64" {
			return []property{{Path: path, Type: "int"}}, nil
		}
		if values := g.enums[kind.Name]; len(values) > 0 {
			return []property{{Path: path, Type: "string", Enum: values}}, nil
		}
		if other, ok := g.named[kind.Name]; ok {
			return g.listValues(path, other)
		}
		return g.listProperties(path, kind.Name)
	}
	return nil, fmt.Errorf("%s: unexpected type %T", path, kind)
}
