package template

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

type obj = map[string]any

const group = "/subscriptions/s/resourceGroups/g"

func newEnvironment() Environment {
	return Environment{
		ResourceGroup: obj{"id": group, "name": "g", "location": "westus3"},
		Subscription:  obj{"id": "/subscriptions/s", "subscriptionId": "s", "tenantId": "t"},
		Versions: func(typ string) []string {
			return map[string][]string{"Microsoft.Compute/disks": {"2024-03-02", "2023-10-02"}}[typ]
		},
		Reference: func(id, apiVersion string) (map[string]any, error) {
			return obj{"location": "westus3", "properties": obj{"id": id, "version": apiVersion}}, nil
		},
	}
}

func newDocument(more obj) obj {
	d := obj{
		"$schema": "https://schema.management.azure.com/schemas/2015-01-01/deploymentTemplate.json#", "contentVersion": "1.0.0.0",
		"parameters": obj{"word": obj{"type": "string", "defaultValue": "[toLower('ABC')]"}, "n": obj{"type": "int", "defaultValue": 3.0},
			"list": obj{"type": "array", "defaultValue": []any{"x", "y"}}},
		"variables": obj{"deep": obj{"List": []any{"a", obj{"b": "c"}}}, "of": "[variables('deep').list[1].b]"},
		"resources": []any{
			obj{"type": "Microsoft.Compute/disks", "name": "disk", "apiVersion": "2024-03-02", "properties": obj{}},
			obj{"type": "Microsoft.Compute/disks", "name": "[concat('copy', copyIndex('loop', 1))]", "apiVersion": "2024-03-02",
				"copy": obj{"name": "loop", "count": 2.0}},
		},
	}
	for k, v := range more {
		d[k] = v
	}
	return d
}

func TestExpressions(t *testing.T) {
	t.Parallel()
	for expression, test := range map[string]struct {
		want    any
		message string // of an error
	}{
		"text":    {want: "text"},
		"[[text]": {want: "[text]"},
		"[concat('it''s ', 'a ', parameters('n'))]":        {want: "it's a 3"},
		"[concat(parameters('list'), parameters('list'))]": {want: []any{"x", "y", "x", "y"}},
		"[format('{0}/{1}/{{0}}', parameters('word'), 7)]": {want: "abc/7/{0}"},
		"[variables('of')]":              {want: "c"},
		"[variables('deep')['list'][0]]": {want: "a"},
		"[resourceId('Microsoft.Network/virtualNetworks/subnets','v','n')]": {
			want: group + "/providers/Microsoft.Network/virtualNetworks/v/subnets/n"},
		"[resourceId('other', 'Microsoft.Compute/disks', 'd')]": {
			want: "/subscriptions/s/resourceGroups/other/providers/Microsoft.Compute/disks/d"},
		"[resourceId('t', 'other', 'Microsoft.Compute/disks', 'd')]": {
			want: "/subscriptions/t/resourceGroups/other/providers/Microsoft.Compute/disks/d"},
		"[resourceGroup().location]":                         {want: "westus3"},
		"[subscription().tenantId]":                          {want: "t"},
		"[reference('disk').id]":                             {want: group + "/providers/Microsoft.Compute/disks/disk"},
		"[reference('copy2').version]":                       {want: "2024-03-02"},
		"[reference('disk', '2023-10-02', 'Full').location]": {want: "westus3"},
		"[reference(resourceId('Microsoft.Compute/disks', 'd'), providers('Microsoft.Compute', " +
			"'disks').apiVersions[0]).version]": {want: "2024-03-02"},
		"[toLower(reference('disk').version)]":    {want: "2024-03-02"},
		"[ concat( 'a' , 'b' ) ]":                 {want: "ab"},
		"[uniqueString()]":                        {message: "function requires 1 argument(s) while 0 were provided"},
		"[base64('a')]":                           {message: "The template function 'base64' is not valid"},
		"[concat('a', resourceGroup())]":          {message: "'concat' expects its parameters to be string, integer or boolean"},
		"[toLower(1)]":                            {message: "'toLower' expects its parameters to be strings"},
		"[format('{1}', 'a')]":                    {message: "the numbers of its arguments"},
		"[parameters('other')]":                   {message: "The template parameter 'other' is not found"},
		"[variables('other')]":                    {message: "The template variable 'other' is not found"},
		"[copyIndex()]":                           {message: "'copyIndex' is not expected at this location"},
		"[resourceId('Microsoft.Compute/disks')]": {message: "function requires 2 argument(s)"},
		"[resourceId('Microsoft.Compute/disks', 'a', 'b')]": {
			message: "the type 'Microsoft.Compute/disks' requires '1' resource name argument(s)"},
		"[resourceId('a', 'b')]":                                {message: "exactly one multi-segmented argument"},
		"[reference('other')]":                                  {message: "could not find template resource or resource copy with this name"},
		"[reference('loop')]":                                   {message: "could not find template resource or resource copy with this name"},
		"[reference('/subscriptions/s/providers/x')]":           {message: "requires an API version"},
		"[providers('Microsoft.Compute', 'tapes').apiVersions]": {message: "was not found"},
		"[parameters('list')[2]]":                               {message: "array index '2' is out of bounds"},
		"[resourceGroup().nothing]": {
			message: "property 'nothing' doesn't exist, available properties are 'id, location, name'"},
		"[parameters('word').length]": {message: "can't be evaluated"},
		"[concat('a',]":               {message: "expected token 'Identifier' and actual 'EndOfData'"},
		"['a' 'b']":                   {message: "expected token 'EndOfData' and actual 'Literal'"},
		"[concat('a)]":                {message: "expected token 'Literal'"},
		"[a]":                         {message: "expected token 'LeftParenthesis'"},
	} {
		var got any
		tpl, err := Parse(newDocument(obj{"outputs": obj{"o": obj{"type": kindFor(test.want), "value": expression}}}), nil, newEnvironment())
		if err == nil {
			var all map[string]Output
			all, err = tpl.Outputs()
			got = all["o"].Value
		}
		switch {
		case test.message != "" && (err == nil || !strings.Contains(err.Error(), test.message)):
			t.Errorf("%s: error %v, want %q", expression, err, test.message)
		case test.message == "" && err != nil:
			t.Errorf("%s: %v", expression, err)
		case test.message == "":
			if d := cmp.Diff(test.want, got); d != "" {
				t.Errorf("%s: %s", expression, d)
			}
		}
	}
}

func kindFor(v any) string {
	if _, is := v.([]any); is {
		return "array"
	}
	return "string"
}

func TestUniqueString(t *testing.T) {
	t.Parallel()
	seen := map[any]bool{}
	for _, args := range [][]any{{"a"}, {"b"}, {"a", "b"}, {"ab"}} {
		v, err := uniqueString(nil, args)
		if text, is := v.(string); err != nil || !is || len(text) != 13 || text != strings.ToLower(text) {
			t.Errorf("uniqueString(%v) = %v, %v", args, v, err)
		}
		seen[v] = true
	}
	if len(seen) != 4 {
		t.Errorf("%d strings of 4", len(seen))
	}
}

// TestDependencies checks the resources that must be deployed first: those in dependsOn, whole loops, and references.
func TestDependencies(t *testing.T) {
	t.Parallel()
	disk := func(name string, more obj) obj {
		o := obj{"type": "Microsoft.Compute/disks", "name": name, "apiVersion": "2024-03-02"}
		for k, v := range more {
			o[k] = v
		}
		return o
	}
	tpl, err := Parse(newDocument(obj{"resources": []any{
		disk("a", nil),
		disk("[concat('l', copyIndex())]", obj{"copy": obj{"name": "loop", "count": "[parameters('n')]", "mode": "Parallel"}}),
		disk("named", obj{"dependsOn": []any{"Microsoft.Compute/Disks/A"}}),
		disk("id", obj{"dependsOn": []any{"[resourceId('Microsoft.Compute/disks', 'a')]", "loop"}}),
		disk("referring", obj{"tags": obj{"t": "[concat('x', reference('l1').version)]"}}),
		disk("off", obj{"condition": false, "dependsOn": []any{"a"}}),
		obj{"type": "Microsoft.Compute/disks/providers/locks", "name": "a/Microsoft.Authorization/lock", "apiVersion": "2020-05-01",
			"dependsOn": []any{"a"}},
	}}), nil, newEnvironment())
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, r := range tpl.Resources {
		var after []string
		for _, o := range r.After {
			after = append(after, o.Name)
		}
		if r.Skipped {
			after = append(after, "skipped")
		}
		got[r.Name] = strings.Join(after, " ")
	}
	want := map[string]string{"a": "", "l0": "", "l1": "", "l2": "", "named": "a", "id": "a l0 l1 l2", "referring": "l1", "off": "a skipped",
		"a/Microsoft.Authorization/lock": "a"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if id := tpl.Resources[len(
		tpl.Resources)-1].ID; id != group+"/providers/Microsoft.Compute/disks/a/providers/Microsoft.Authorization/locks/lock" {
		t.Errorf("ID of an extension: %s", id)
	}
}

// TestBody checks the body that a provider gets of a resource.
func TestBody(t *testing.T) {
	t.Parallel()
	var written obj
	if err := json.Unmarshal([]byte(`{"type":"Microsoft.Compute/disks","name":"d","apiVersion":"2024-03-02","location":"[resourceGroup().location]","comments":"c","dependsOn":[],"zones":["1"],
		"sku":{"name":"[parameters('word')]"},"properties":{"n":"[parameters('n')]","by":{"[parameters('word')]":null}}}`),
		&written); err != nil {
		t.Fatal(err)
	}
	tpl, err := Parse(newDocument(obj{"resources": []any{written}}), obj{"word": obj{"value": "given"}}, newEnvironment())
	if err != nil {
		t.Fatal(err)
	}
	got, err := tpl.Resources[0].Body()
	if err != nil {
		t.Fatal(err)
	}
	want := obj{"location": "westus3", "zones": []any{"1"}, "sku": obj{"name": "given"}, "properties": obj{"n": 3.0, "by": obj{"given": nil}}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestParameters(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		declared obj
		value    any
		message  string
	}{
		"secure":     {obj{"type": "securestring"}, "s", ""},
		"object":     {obj{"type": "secureObject"}, obj{}, ""},
		"no type":    {obj{}, "s", "the type '' is not one of the allowed types"},
		"other type": {obj{"type": "bool"}, "true", "Expected 'Bool'. Actual 'String'"},
		"allowed":    {obj{"type": "string", "allowedValues": []any{"a", "b"}}, "b", ""},
		"not allowed": {obj{"type": "string", "allowedValues": []any{"a", "b"}}, "c",
			"The provided value 'c' for the template parameter 'p' is not valid. The value is not part of the allowed value(s): 'a,b'"},
		"secret is quiet": {obj{"type": "securestring", "allowedValues": []any{"a"}}, "hidden",
			"The provided value for the template parameter 'p'"},
		"too short": {obj{"type": "string", "minLength": 3.0}, "ab", "its 'minLength' is '3'"},
		"too many":  {obj{"type": "array", "maxLength": 1.0}, []any{1.0, 2.0}, "its 'maxLength' is '1'"},
		"too much":  {obj{"type": "int", "minValue": 1.0, "maxValue": 3.0}, 4.0, "its 'maxValue' is '3'"},
		"none":      {obj{"type": "string"}, nil, "The value for the template parameter 'p' at line '1' and column '1' is not provided"},
	} {
		tpl, err := Parse(newDocument(obj{"parameters": obj{"p": test.declared}, "resources": []any{}}), obj{"p": obj{"value": test.value}},
			newEnvironment())
		if (err == nil) != (test.message == "") || err != nil && !strings.Contains(err.Error(), test.message) || err != nil &&
			strings.Contains(err.Error(), "hidden") {
			t.Errorf("%s: %v, want %q", name, err, test.message)
		}
		if err == nil && !cmp.Equal(tpl.Parameters()[0].Value(), test.value) {
			t.Errorf("%s: %v", name, tpl.Parameters()[0].Value())
		}
	}
}
