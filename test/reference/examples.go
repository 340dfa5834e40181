package reference

import (
	"io/fs"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// exampleValues are the values of variables in examples. Other variables have their default, or a word of their name.
var exampleValues = map[string]string{
	"CLUSTER_NAME": "my-cluster", "AZURE_LOCATION": "eastus", "KUBERNETES_VERSION": "v1.34.2", "WORKER_MACHINE_COUNT": "2", "CONTROL_PLANE_MACHINE_COUNT": "3",
	"AZURE_SUBSCRIPTION_ID": "00000000-0000-0000-0000-000000000000", "AZURE_TENANT_ID": "11111111-1111-1111-1111-111111111111",
	"AZURE_CLIENT_ID_USER_ASSIGNED_IDENTITY": "22222222-2222-2222-2222-222222222222", "AZURE_CLIENT_ID": "22222222-2222-2222-2222-222222222222",
	"AZURE_CONTROL_PLANE_MACHINE_TYPE": "Standard_D2s_v3", "AZURE_NODE_MACHINE_TYPE": "Standard_D2s_v3", "CLUSTER_IDENTITY_NAME": "cluster-identity",
	"AZURE_SSH_PUBLIC_KEY_B64": "", "CI_RG": "my-group", "CLUSTER_CLASS_NAME": "my-class",
}

// readExamples returns the first object of each kind in the templates, the default template first, without variables.
func readExamples(root fs.FS) (map[string]string, error) {
	files, err := fs.Glob(root, "templates/*.yaml")
	if err != nil {
		return nil, err
	}
	slices.SortFunc(files, func(a, b string) int { return len(a) - len(b) })
	examples := map[string]string{}
	for _, file := range files {
		raw, err := fs.ReadFile(root, file)
		if err != nil {
			return nil, err
		}
		for document := range strings.SplitSeq(string(raw), "\n---\n") {
			kind := regexp.MustCompile(`(?m)^kind: (\w+)$`).FindStringSubmatch(document)
			if kind == nil || examples[kind[1]] != "" {
				continue
			}
			var object map[string]any
			if err := yaml.Unmarshal([]byte(substitute(document)), &object); err != nil {
				return nil, err
			}
			text, err := yaml.Marshal(object)
			if err != nil {
				return nil, err
			}
			examples[kind[1]] = string(text)
		}
	}
	return examples, nil
}

// substitute replaces the variables of a template.
func substitute(text string) string {
	for {
		variables := variablesIn(text)
		if len(variables) == 0 {
			return text
		}
		v := variables[0]
		value, ok := exampleValues[v.name]
		if !ok {
			if value = strings.Trim(substitute(v.fallback), `"`); !v.hasDefault {
				value = strings.ToLower(strings.ReplaceAll(v.name, "_", "-"))
			}
		}
		text = strings.ReplaceAll(text, v.text, value) // also in the defaults of others
	}
}

// variable is one use of a variable in a template.
type variable struct {
	text, name, fallback string
	hasDefault           bool
}

var variableName = regexp.MustCompile(`^\$\{(\w+)(:=|:-|=|-)?`)

// variablesIn returns the outermost variables of a template, in order.
func variablesIn(text string) (out []variable) {
	for at := 0; at < len(text); at++ {
		match := variableName.FindStringSubmatch(text[at:])
		if match == nil {
			continue
		}
		depth, end := 0, at
		for ; end < len(text); end++ {
			if strings.HasPrefix(text[end:], "${") {
				depth++
			} else if text[end] == '}' {
				if depth--; depth == 0 {
					break
				}
			}
		}
		whole := text[at:min(end+1, len(text))]
		v := variable{text: whole, name: match[1], hasDefault: match[2] != ""}
		if v.hasDefault {
			v.fallback = strings.TrimSuffix(whole[len(match[0]):], "}")
		}
		out = append(out, v)
		at = end
	}
	return out
}
