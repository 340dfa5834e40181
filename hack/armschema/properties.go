package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"maps"
	"slices"
	"strings"
)

// property is the information that the source has about a property of a body.
type property struct {
	Path, Type, Format, Default string
	Enum                        []string
	ReadOnly, CreateOnly        bool
}

// note is one line of the notes. The package armschema documents the fields.
type note struct {
	Path       string `json:"path"`
	Format     string `json:"format,omitempty"`
	Default    string `json:"default,omitempty"`
	CreateOnly bool   `json:"createOnly,omitempty"`
}

// agentPoolProfiles are left out of the tables: agent pools are resources of their own, whose table is the other one.
const agentPoolProfiles = "properties.agentPoolProfiles"

// properties returns those of a body, with its objects, lists and maps, sorted by path.
func (s *sdk) properties(kind string) map[string]property {
	out := map[string]property{}
	s.object(out, kind, "", kind, nil)
	return out
}

func (s *sdk) object(out map[string]property, kind, path, name string, parents []string) {
	if slices.Contains(parents, name) {
		return // errors have errors as details
	}
	for _, field := range s.structs[name].Fields.List {
		fieldName := field.Names[0].Name
		key, ok := s.names[name][fieldName]
		if !ok {
			panic(fmt.Sprintf("no JSON name of %s.%s", name, fieldName))
		}
		here := strings.TrimPrefix(path+"."+key, ".")
		doc := text(field.Doc)
		p := property{Path: here, CreateOnly: out[path].CreateOnly || createOnly(kind, here, doc)}
		if strings.HasPrefix(doc, "READ-ONLY") || out[path].ReadOnly {
			p.ReadOnly = true
		}
		p.Format = map[string]string{"populateDateType": "date", "populateByteArray": "byte",
			"populateDateTimeRFC3339": "date-time"}[s.encoders[name][fieldName]]
		s.value(out, kind, p, field.Type, doc, append(slices.Clone(parents), name))
	}
}

// value adds a property of a type and those below it.
func (s *sdk) value(out map[string]property, kind string, p property, expression ast.Expr, doc string, parents []string) {
	switch expression := expression.(type) {
	case *ast.StarExpr:
		s.value(out, kind, p, expression.X, doc, parents)
		return
	case *ast.MapType:
		s.collection(out, kind, p, "map", ".*", expression.Value, parents)
		return
	case *ast.ArrayType:
		if element, ok := expression.Elt.(*ast.Ident); ok && element.Name == "byte" {
			p.Type = "string"
			break
		}
		s.collection(out, kind, p, "list", "[]", expression.Elt, parents)
		return
	case *ast.SelectorExpr: // time.Time
		p.Type, p.Format = "string", cmp.Or(p.Format, "date-time")
	case *ast.Ident:
		switch expression.Name {
		case "string":
			p.Type = "string"
		case "bool":
			p.Type = "boolean"
		case "int32", "int64":
			p.Type = "integer"
		case "float32", "float64":
			p.Type = "number"
		case "any":
			p.Type = "any"
		default:
			if _, ok := s.structs[expression.Name]; ok {
				p.Type = "object"
				out[p.Path] = p
				s.object(out, kind, p.Path, expression.Name, parents)
				return
			}
			p.Type, p.Enum = "string", s.enums[expression.Name]
			if len(p.Enum) == 0 {
				panic("unknown type " + expression.Name)
			}
			doc += " " + s.enumDocs[expression.Name]
		}
	default:
		panic(fmt.Sprintf("%s: unknown type %T", p.Path, kind))
	}
	p.Default = documentedDefault(p, doc)
	out[p.Path] = p
}

func (s *sdk) collection(out map[string]property, kind string, p property, collectionType, suffix string, element ast.Expr,
	parents []string) {
	format := p.Format
	p.Type, p.Format = collectionType, ""
	if p.Path == agentPoolProfiles {
		out[p.Path] = p
		return
	}
	out[p.Path] = p
	s.value(out, kind, property{Path: p.Path + suffix, Format: format, ReadOnly: p.ReadOnly, CreateOnly: p.CreateOnly}, element, "", parents)
}

// merge gives the notes on the properties of both versions. A note on an object that cannot change counts for all in it.
func merge(stable, preview map[string]property) ([]note, error) {
	var out []note
	var problems []error
	for _, path := range slices.Sorted(maps.Keys(union(stable, preview))) {
		p, ok := stable[path]
		other, also := preview[path]
		switch {
		case !ok:
			p = other
		case also:
			p.Default, other.Default = cmp.Or(p.Default, other.Default), cmp.Or(other.Default, p.Default)
			if p.Type != other.Type || p.Format != other.Format || p.CreateOnly != other.CreateOnly || p.Default != other.Default {
				problems = append(problems, fmt.Errorf("%s: the versions differ in a way that the notes cannot express: %+v and %+v", path, p, other))
			}
		}
		n := note{Path: path, Format: p.Format, Default: p.Default, CreateOnly: p.CreateOnly && !parent(stable, preview, path).CreateOnly}
		if p.Type == "number" {
			n.Format = p.Type
		}
		if !p.ReadOnly && n != (note{Path: path}) {
			out = append(out, n)
		}
	}
	return out, errors.Join(problems...)
}

func union(a, b map[string]property) map[string]property {
	out := maps.Clone(a)
	maps.Copy(out, b)
	return out
}

// parent returns the property that one is directly in.
func parent(stable, preview map[string]property, path string) property {
	if list, ok := strings.CutSuffix(path, "[]"); ok {
		path = list
	} else {
		path = path[:max(strings.LastIndexByte(path, '.'), 0)]
	}
	if p, ok := stable[path]; ok {
		return p
	}
	return preview[path]
}

// render writes one note per line, so that a difference between versions reads well.
func render(stable, preview source, notes map[string][]note) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	var problems []error
	line := func(prefix string, value any, suffix string) {
		out.WriteString(prefix)
		problems = append(problems, encoder.Encode(value))
		out.Truncate(out.Len() - 1)
		out.WriteString(suffix)
	}
	line("{\n \"generated\": \"by hack/armschema; DO NOT EDIT\",\n \"stable\": ", stable, ",\n")
	line(" \"preview\": ", preview, "")
	for _, kind := range slices.Sorted(maps.Keys(notes)) {
		line(",\n ", kind, ": [\n")
		for i, n := range notes[kind] {
			suffix := ",\n"
			if i == len(notes[kind])-1 {
				suffix = "\n"
			}
			line("  ", n, suffix)
		}
		out.WriteString(" ]")
	}
	out.WriteString("\n}\n")
	return out.Bytes(), errors.Join(problems...)
}
