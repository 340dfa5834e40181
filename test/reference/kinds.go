package reference

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"sigs.k8s.io/cluster-api-provider-azure/config/crd"
)

// kind is a custom resource definition.
type kind struct {
	apiextensionsv1.CustomResourceDefinition

	example string
}

// schema returns the schema of the stored version. Versions differ in nothing but their names.
func (k kind) schema() apiextensionsv1.JSONSchemaProps {
	i := slices.IndexFunc(k.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool { return v.Storage })
	return *k.Spec.Versions[i].Schema.OpenAPIV3Schema
}

func (k kind) name() string { return k.Spec.Names.Kind }

func (k kind) file() string { return strings.ToLower(k.name()) + ".md" }

// readKinds returns all kinds, by name, each with an example from the templates.
func readKinds(root fs.FS) ([]kind, error) {
	entries, err := crd.Files.ReadDir("bases")
	if err != nil {
		return nil, err
	}
	examples, err := readExamples(root)
	if err != nil {
		return nil, err
	}
	kinds := make([]kind, 0, len(entries))
	for _, entry := range entries {
		raw, err := crd.Files.ReadFile(path.Join("bases", entry.Name()))
		if err != nil {
			return nil, err
		}
		k := kind{}
		if err := yaml.UnmarshalStrict(raw, &k.CustomResourceDefinition); err != nil {
			return nil, fmt.Errorf("%s: %w", entry.Name(), err)
		}
		k.example = examples[k.name()]
		kinds = append(kinds, k)
	}
	slices.SortFunc(kinds, func(a, b kind) int { return strings.Compare(a.name(), b.name()) })
	return kinds, nil
}

// field is one row of the table of a kind.
type field struct {
	path, kind, limits, description string
}

// fieldsBelow returns the fields of a schema and of everything in it, in alphabetical order. rules are CEL rules of the schemas above that name a
// field below: by its path from here.
func fieldsBelow(at string, schema apiextensionsv1.JSONSchemaProps, rules map[string][]string) (out []field) {
	for _, rule := range schema.XValidations {
		rules[at+rule.FieldPath] = append(rules[at+rule.FieldPath], describeRule(rule))
	}
	for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
		property := schema.Properties[name]
		where := at + "." + name
		below := fieldsBelow(where+suffixOf(property), innermost(property), rules)
		for _, rule := range property.XValidations {
			if suffixOf(property) != "" { // those of other schemas are added above
				rules[where+rule.FieldPath] = append(rules[where+rule.FieldPath], describeRule(rule))
			}
		}
		limits := append(limitsOf(property, slices.Contains(schema.Required, name)), rules[where]...)
		if inner := innermost(property); suffixOf(property) != "" {
			limits = append(limits, prefixed("each: ", append(limitsOf(inner, false), rules[where+suffixOf(property)]...))...)
		}
		out = append(out, field{strings.TrimPrefix(where, "."), typeOf(property), strings.Join(limits, "; "), property.Description})
		out = append(out, below...)
	}
	return out
}

func prefixed(prefix string, texts []string) []string {
	for i := range texts {
		texts[i] = prefix + texts[i]
	}
	return texts
}

// describeRule returns a CEL rule in words. Rules that need the old object are about changes, and fields with them are immutable in part or in whole.
func describeRule(rule apiextensionsv1.ValidationRule) string {
	message := rule.Message
	if message == "" {
		return "rule " + code(rule.Rule)
	}
	always := rule.OptionalOldSelf != nil && *rule.OptionalOldSelf
	if strings.Contains(message, "cannot change") {
		return "immutable: " + plain(message)
	}
	if strings.Contains(rule.Rule, "oldSelf") && !always {
		return "on changes: " + plain(message)
	}
	return "rule: " + plain(message)
}

// suffixOf returns how the path of a list or map goes on to its elements.
func suffixOf(schema apiextensionsv1.JSONSchemaProps) string {
	switch {
	case schema.Items != nil:
		return "[]" + suffixOf(*schema.Items.Schema)
	case schema.AdditionalProperties != nil && schema.AdditionalProperties.Schema != nil:
		return ".*" + suffixOf(*schema.AdditionalProperties.Schema)
	}
	return ""
}

// innermost returns the schema of the elements of lists and maps.
func innermost(schema apiextensionsv1.JSONSchemaProps) apiextensionsv1.JSONSchemaProps {
	switch {
	case schema.Items != nil:
		return innermost(*schema.Items.Schema)
	case schema.AdditionalProperties != nil && schema.AdditionalProperties.Schema != nil:
		return innermost(*schema.AdditionalProperties.Schema)
	}
	return schema
}

func typeOf(schema apiextensionsv1.JSONSchemaProps) string {
	switch {
	case schema.Items != nil:
		return "list of " + typeOf(*schema.Items.Schema)
	case schema.AdditionalProperties != nil && schema.AdditionalProperties.Schema != nil:
		return "map of " + typeOf(*schema.AdditionalProperties.Schema)
	case schema.XIntOrString:
		return "integer or string"
	case schema.XPreserveUnknownFields != nil && *schema.XPreserveUnknownFields:
		return "any object"
	case schema.Format != "" && schema.Type == "string":
		return schema.Format
	}
	return schema.Type
}

// limitsOf returns what the schema itself requires of a value.
func limitsOf(s apiextensionsv1.JSONSchemaProps, required bool) (out []string) {
	if required {
		out = append(out, "required")
	}
	if s.Default != nil {
		out = append(out, "default "+code(string(s.Default.Raw)))
	}
	if len(s.Enum) > 0 {
		values := make([]string, len(s.Enum))
		for i, value := range s.Enum {
			values[i] = code(strings.Trim(string(value.Raw), `"`))
		}
		out = append(out, "one of "+strings.Join(values, ", "))
	}
	for _, limit := range []struct {
		name string
		low  any
		high any
	}{
		{"characters", pointed(s.MinLength), pointed(s.MaxLength)}, {"entries", pointed(s.MinItems), pointed(s.MaxItems)},
		{"fields", pointed(s.MinProperties), pointed(s.MaxProperties)}, {"", pointed(s.Minimum), pointed(s.Maximum)},
	} {
		if text := limitText(limit.low, limit.high, limit.name); text != "" {
			out = append(out, text)
		}
	}
	if s.Pattern != "" {
		out = append(out, "pattern "+code(s.Pattern))
	}
	return out
}

// pointed returns the value of a pointer, or nil.
func pointed[T any](value *T) any {
	if value == nil {
		return nil
	}
	return *value
}

func limitText(low, high any, unit string) string {
	switch {
	case low != nil && high != nil && low == high:
		return strings.TrimSpace(fmt.Sprintf("%v %s", low, unit))
	case low != nil && high != nil:
		return strings.TrimSpace(fmt.Sprintf("%v to %v %s", low, high, unit))
	case low != nil:
		return strings.TrimSpace(fmt.Sprintf("at least %v %s", low, unit))
	case high != nil:
		return strings.TrimSpace(fmt.Sprintf("at most %v %s", high, unit))
	}
	return ""
}

// render returns the page of a kind, and how many fields it has.
func (k kind) render() *page {
	schema := k.schema()
	names := k.Spec.Names
	p := newPage(k.name(), plain(schema.Description))
	var versions []string
	for _, version := range k.Spec.Versions {
		if version.Served {
			versions = append(versions, code(k.Spec.Group+"/"+version.Name))
		}
	}
	p.paragraph(fmt.Sprintf("Versions: %s. Resource: %s, %s.", strings.Join(versions, ", "), code(names.Plural+"."+k.Spec.Group), strings.ToLower(string(k.Spec.Scope))))
	p.paragraph("The tables have the type, the default and the limits of each field, as the API server checks them. `immutable` and `on changes` are rules about changes of an existing object. The manager's webhooks check more, with a message that names the field.")
	var whole []string
	for _, rule := range schema.XValidations {
		if !strings.HasPrefix(rule.FieldPath, ".spec") && !strings.HasPrefix(rule.FieldPath, ".status") {
			whole = append(whole, describeRule(rule))
		}
	}
	if len(whole) > 0 {
		p.paragraph("The whole object: " + strings.Join(whole, "; ") + ".")
	}
	if k.example != "" {
		p.heading(2, "Example")
		fmt.Fprintf(p, "\n```yaml\n%s```\n", k.example)
	}
	for _, part := range []string{"spec", "status"} {
		below, ok := schema.Properties[part]
		if !ok {
			continue
		}
		rules := map[string][]string{}
		for _, rule := range schema.XValidations {
			rules[rule.FieldPath] = append(rules[rule.FieldPath], describeRule(rule))
		}
		fields := fieldsBelow("."+part, below, rules)
		p.heading(2, code(part))
		p.paragraph(plain(below.Description))
		limits := append(limitsOf(below, slices.Contains(schema.Required, part)), rules["."+part]...)
		p.fields(append([]field{{part, "object", strings.Join(limits, "; "), below.Description}}, topLevel(fields)...))
		for _, name := range slices.Sorted(maps.Keys(below.Properties)) {
			group := slices.DeleteFunc(slices.Clone(fields), func(f field) bool { return !isBelow(f.path, part+"."+name) })
			if len(group) > 0 {
				p.heading(3, code(part+"."+name))
				p.fields(group)
			}
		}
	}
	return p
}

var oneName = regexp.MustCompile(`^\w+\.\w+$`)

func topLevel(fields []field) []field {
	return slices.DeleteFunc(slices.Clone(fields), func(f field) bool { return !oneName.MatchString(f.path) })
}

func isBelow(path, top string) bool {
	rest, ok := strings.CutPrefix(path, top)
	return ok && rest != "" && (rest[0] == '.' || rest[0] == '[')
}

func (p *page) fields(fields []field) {
	rows := make([][]string, len(fields))
	for i, f := range fields {
		kind := f.kind
		if f.limits != "" {
			kind += "; " + f.limits
		}
		rows[i] = []string{code(f.path), kind, plain(f.description)}
	}
	p.table([]string{"Field", "Type and limits", "Meaning"}, rows)
}

// countFields counts the properties of a schema as JSON, independent of fieldsBelow.
func countFields(schema any) (count int) {
	switch schema := schema.(type) {
	case map[string]any:
		for key, value := range schema {
			if properties, ok := value.(map[string]any); ok && key == "properties" {
				count += len(properties)
				for _, property := range properties {
					count += countFields(property)
				}
			} else if key == "items" || key == "additionalProperties" {
				count += countFields(value)
			}
		}
	case []any:
		for _, value := range schema {
			count += countFields(value)
		}
	}
	return count
}

// existingFields returns the number of fields in spec and status of a kind, with these two.
func (k kind) existingFields() int {
	raw, _ := json.Marshal(k.schema())
	var schema map[string]any
	_ = json.Unmarshal(raw, &schema)
	properties, _ := schema["properties"].(map[string]any)
	count := 0
	for _, part := range []string{"spec", "status"} {
		if below, ok := properties[part]; ok {
			count += 1 + countFields(below)
		}
	}
	return count
}
