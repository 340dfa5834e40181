package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"slices"
	"strings"
)

// property is one line of a table. The package armschema tells what the fields mean.
type property struct {
	Path        string   `json:"path"`
	Type        string   `json:"type"`
	Format      string   `json:"format,omitempty"`
	Enum        []string `json:"enum,omitempty"`
	PreviewEnum []string `json:"previewEnum,omitempty"`
	Default     string   `json:"default,omitempty"`
	Required    bool     `json:"required,omitempty"`
	ReadOnly    string   `json:"readOnly,omitempty"`
	CreateOnly  bool     `json:"createOnly,omitempty"`
	Only        string   `json:"only,omitempty"`
}

// What ReadOnly and Only say.
const (
	both        = "both"
	onlyStable  = "stable"
	onlyPreview = "preview"
)

// agentPoolProfiles are left out of the tables: agent pools are resources of their own, whose table is the other one.
const agentPoolProfiles = "properties.agentPoolProfiles"

// properties are those of a body, with its objects, lists and maps, sorted by path.
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
		p := property{Path: here, Required: strings.HasPrefix(doc, "REQUIRED"), CreateOnly: out[path].CreateOnly || createOnly(kind, here, doc)}
		if strings.HasPrefix(doc, "READ-ONLY") || out[path].ReadOnly != "" {
			p.ReadOnly = both
		}
		p.Format = map[string]string{"populateDateType": "date", "populateByteArray": "byte", "populateDateTimeRFC3339": "date-time"}[s.encoders[name][fieldName]]
		s.value(out, kind, p, field.Type, doc, append(slices.Clone(parents), name))
	}
}

// value adds a property of a type and what is below it.
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

func (s *sdk) collection(out map[string]property, kind string, p property, collectionType, suffix string, element ast.Expr, parents []string) {
	format := p.Format
	p.Type, p.Format = collectionType, ""
	if p.Path == agentPoolProfiles {
		out[p.Path] = p
		return
	}
	out[p.Path] = p
	s.value(out, kind, property{Path: p.Path + suffix, Format: format, ReadOnly: p.ReadOnly, CreateOnly: p.CreateOnly}, element, "", parents)
}

// merge puts the properties of both versions into one table.
func merge(stable, preview map[string]property) ([]property, error) {
	var out []property
	var problems []error
	for path, p := range stable {
		other, ok := preview[path]
		if !ok {
			p.Only = onlyStable
			out = append(out, p)
			continue
		}
		for _, value := range other.Enum {
			if !slices.Contains(p.Enum, value) {
				p.PreviewEnum = append(p.PreviewEnum, value)
			}
		}
		for _, value := range p.Enum {
			if !slices.Contains(other.Enum, value) {
				problems = append(problems, fmt.Errorf("%s: %s is in the stable version only, which the table cannot say", path, value))
			}
		}
		p.Default, other.Default = cmp.Or(p.Default, other.Default), cmp.Or(other.Default, p.Default)
		if p.ReadOnly != other.ReadOnly {
			p.ReadOnly = map[bool]string{true: onlyStable, false: onlyPreview}[p.ReadOnly != ""]
		}
		if p.Type != other.Type || p.Format != other.Format || p.Required != other.Required || p.CreateOnly != other.CreateOnly || p.Default != other.Default {
			problems = append(problems, fmt.Errorf("%s: the versions differ in a way the table cannot say: %+v and %+v", path, p, other))
		}
		out = append(out, p)
	}
	for path, p := range preview {
		if _, ok := stable[path]; !ok {
			p.Only = onlyPreview
			out = append(out, p)
		}
	}
	slices.SortFunc(out, func(a, b property) int { return strings.Compare(a.Path, b.Path) })
	return out, errors.Join(problems...)
}

// render writes one property per line, so that a difference between versions reads well.
func render(stable, preview source, properties []property) ([]byte, error) {
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
	line(" \"preview\": ", preview, ",\n \"properties\": [\n")
	for i, p := range properties {
		suffix := ",\n"
		if i == len(properties)-1 {
			suffix = "\n"
		}
		line("  ", p, suffix)
	}
	out.WriteString(" ]\n}\n")
	return out.Bytes(), errors.Join(problems...)
}
