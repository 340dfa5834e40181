package recordings

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
)

// asoProperty is a value that ASO's spec has, with an example of it.
type asoProperty struct {
	// path is dotted, "[]" stands for items and "*" for entries.
	path string
	// arm is Azure's name of a reference, as ASO's types note it.
	arm string
	// example is a value as ASO's types want it.
	example any
	// enum are the values that ASO allows.
	enum []string
}

// asoTypes are the Go types of one version of ASO's API group for AKS.
type asoTypes struct {
	structs map[string]*ast.StructType
	// named are the types that are another one, as "type ContainerServiceOSDisk int".
	named map[string]ast.Expr
	enums map[string][]string
}

// readASOTypes reads the types of a version of the group for AKS.
func readASOTypes(t *testing.T, version string) asoTypes {
	t.Helper()
	return readASODirectory(t, filepath.Join(operatorSource(t), "api", "containerservice", version))
}

// readASODirectory reads the types of a version of a group.
func readASODirectory(t *testing.T, dir string) asoTypes {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_types_gen.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no types in %s: %v", dir, err)
	}
	out := asoTypes{structs: map[string]*ast.StructType{}, named: map[string]ast.Expr{}, enums: map[string][]string{}}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(node ast.Node) bool {
			switch node := node.(type) {
			case *ast.TypeSpec:
				switch kind := node.Type.(type) {
				case *ast.StructType:
					out.structs[node.Name.Name] = kind
				default:
					out.named[node.Name.Name] = kind
				}
			case *ast.ValueSpec:
				// As in AgentPoolMode_System = AgentPoolMode("System").
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
						out.enums[kind.Name] = append(out.enums[kind.Name], text)
					}
				}
			}
			return true
		})
	}
	return out
}

// properties returns the values of a struct.
func (a asoTypes) properties(t *testing.T, path, name string) []asoProperty {
	t.Helper()
	structure, ok := a.structs[name]
	if !ok {
		t.Fatalf("%s: ASO has no type %s", path, name)
	}
	var out []asoProperty
	for _, field := range structure.Fields.List {
		tag, err := strconv.Unquote(field.Tag.Value)
		if err != nil {
			t.Fatal(err)
		}
		key, _, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ",")
		for _, p := range a.values(t, strings.TrimPrefix(path+"."+key, "."), field.Type) {
			if p.arm == "?" {
				p.arm = reflect.StructTag(tag).Get("armReference")
			}
			out = append(out, p)
		}
	}
	return out
}

// values returns those of a property of some type.
func (a asoTypes) values(t *testing.T, path string, kind ast.Expr) []asoProperty {
	t.Helper()
	switch kind := kind.(type) {
	case *ast.StarExpr:
		return a.values(t, path, kind.X)
	case *ast.ArrayType:
		return a.values(t, path+"[]", kind.Elt)
	case *ast.MapType:
		return a.values(t, path+".*", kind.Value)
	case *ast.SelectorExpr:
		switch kind.Sel.Name {
		case "ResourceReference", "WellKnownResourceReference":
			return []asoProperty{{path: path, arm: "?", example: map[string]any{"armId": exampleID}}}
		case "SecretReference", "ConfigMapReference", "SecretDestination", "ConfigMapDestination":
			return []asoProperty{{path: path, example: map[string]any{"name": "n", "key": "k"}}}
		default: // owners and expressions
			return []asoProperty{{path: path, example: map[string]any{"name": "n"}}}
		}
	case *ast.Ident:
		switch kind.Name {
		case "string":
			return []asoProperty{{path: path, example: "aGVsbG8="}}
		case "int":
			return []asoProperty{{path: path, example: 1}}
		case "float64":
			return []asoProperty{{path: path, example: 1.5}}
		case "bool":
			return []asoProperty{{path: path, example: true}}
		}
		if values := a.enums[kind.Name]; len(values) > 0 {
			return []asoProperty{{path: path, example: values[0], enum: values}}
		}
		if other, ok := a.named[kind.Name]; ok {
			return a.values(t, path, other)
		}
		return a.properties(t, path, kind.Name)
	default:
		t.Fatalf("%s: a type that the test does not know: %T", path, kind)
		return nil
	}
}

const exampleID = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Example/things/t"

// document returns the spec that has only the value.
func (p asoProperty) document() map[string]any {
	steps := strings.Split(p.path, ".")
	value := p.example
	for i := len(steps) - 1; i >= 0; i-- {
		name, isList := strings.CutSuffix(steps[i], "[]")
		if isList {
			value = []any{value}
		}
		if name == "*" {
			name = "entry.with/dot"
		}
		value = map[string]any{name: value}
	}
	return map[string]any{"spec": value}
}
