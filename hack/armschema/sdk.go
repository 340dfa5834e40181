package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// sdk has the type declarations in the source of one SDK version.
type sdk struct {
	source  source
	structs map[string]*ast.StructType
	// enums are the values of the string types, enumDocs the comments of those types.
	enums    map[string][]string
	enumDocs map[string]string
	// names are the JSON names of fields by type and field, encoders the functions that write them.
	names    map[string]map[string]string
	encoders map[string]map[string]string
}

// source is where a table comes from.
type source struct {
	Module     string `json:"module"`
	Version    string `json:"version"`
	APIVersion string `json:"apiVersion"`
}

func readSDK(module, version string) (*sdk, error) {
	dir, err := download(module, version)
	if err != nil {
		return nil, err
	}
	out := &sdk{
		source: source{Module: module, Version: version}, structs: map[string]*ast.StructType{}, enums: map[string][]string{},
		enumDocs: map[string]string{},
		names:    map[string]map[string]string{}, encoders: map[string]map[string]string{},
	}
	readers := map[string]func(*ast.File){
		"models.go": out.readModels, "constants.go": out.readConstants, "models_serde.go": out.readEncoders,
	}
	if module == aksModule {
		readers["managedclusters_client.go"] = out.readAPIVersion
	}
	for name, read := range readers {
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, name), nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		read(file)
	}
	if module == aksModule && out.source.APIVersion == "" || len(out.structs) == 0 || len(out.enums) == 0 || len(out.names) == 0 {
		return nil, fmt.Errorf("%s@%s is not laid out as expected", module, version)
	}
	return out, nil
}

func (s *sdk) readModels(file *ast.File) {
	ast.Inspect(file, func(node ast.Node) bool {
		if spec, ok := node.(*ast.TypeSpec); ok {
			if structure, ok := spec.Type.(*ast.StructType); ok {
				s.structs[spec.Name.Name] = structure
			}
		}
		return true
	})
}

func (s *sdk) readConstants(file *ast.File) {
	for _, declaration := range file.Decls {
		block, ok := declaration.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, spec := range block.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				s.enumDocs[spec.Name.Name] = text(block.Doc)
			case *ast.ValueSpec:
				name, isType := spec.Type.(*ast.Ident)
				if !isType || len(spec.Values) != 1 {
					continue
				}
				if literal, ok := spec.Values[0].(*ast.BasicLit); ok {
					if value, err := strconv.Unquote(literal.Value); err == nil {
						s.enums[name.Name] = append(s.enums[name.Name], value)
					}
				}
			}
		}
	}
	for name := range s.enums {
		slices.Sort(s.enums[name])
	}
}

// readEncoders reads the JSON names from the methods MarshalJSON, which consist of calls like
// populate(objectMap, "vnetSubnetID", m.VnetSubnetID).
func (s *sdk) readEncoders(file *ast.File) {
	for _, declaration := range file.Decls {
		method, ok := declaration.(*ast.FuncDecl)
		if !ok || method.Name.Name != "MarshalJSON" {
			continue
		}
		receiver, ok := method.Recv.List[0].Type.(*ast.Ident)
		if !ok {
			continue
		}
		s.names[receiver.Name], s.encoders[receiver.Name] = map[string]string{}, map[string]string{}
		ast.Inspect(method.Body, func(node ast.Node) bool {
			call, ok := node.(*ast.CallExpr)
			if !ok || len(call.Args) < 3 {
				return true
			}
			function, isFunction := call.Fun.(*ast.Ident)
			key, isKey := call.Args[1].(*ast.BasicLit)
			field, isField := call.Args[2].(*ast.SelectorExpr)
			if isFunction && isKey && isField {
				name, _ := strconv.Unquote(key.Value)
				s.names[receiver.Name][field.Sel.Name] = name
				s.encoders[receiver.Name][field.Sel.Name] = function.Name
			}
			return true
		})
	}
}

var apiVersion = regexp.MustCompile(`^"\d{4}-\d{2}-\d{2}(-preview)?"$`)

func (s *sdk) readAPIVersion(file *ast.File) {
	ast.Inspect(file, func(node ast.Node) bool {
		if literal, ok := node.(*ast.BasicLit); ok && apiVersion.MatchString(literal.Value) {
			s.source.APIVersion = strings.Trim(literal.Value, `"`)
		}
		return true
	})
}

// text returns a comment on one line.
func text(doc *ast.CommentGroup) string {
	if doc == nil {
		return ""
	}
	return strings.Join(strings.Fields(doc.Text()), " ")
}
