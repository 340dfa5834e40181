package inspect

import (
	"slices"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/internal/setup/redact"
	"sigs.k8s.io/cluster-api-provider-azure/internal/text"
)

// hidden stands for a value that is not in a bundle.
const hidden = "(hidden)"

// secretFields are, besides those of text.IsSecretName, fields with contents that users choose: scripts, files, settings of extensions and
// values of Helm charts may contain secrets. In lower case.
var secretFields = []string{
	"protectedsettings", "settings", "configurationsettings", "configurationprotectedsettings", "customdata", "userdata", "content", "data", "stringdata", "binarydata", "prekubeadmcommands", "postkubeadmcommands",
	"bootcommands", "additionalconfig", "inline", "sshprivatekey", "httpheaders",
	"values", "valuestemplate",
}

// variableLists are the lists of the variables of a topology, and of the environment of a process. Users choose the names, so any value may be
// a secret.
var variableLists = []string{"variables", "overrides", "extraEnvs"}

// hideSecrets masks the values of an object that can be secrets, and removes the copy of the object that kubectl keeps.
func hideSecrets(object map[string]any) {
	if metadata, is := object["metadata"].(map[string]any); is {
		delete(metadata, "managedFields")
		if annotations, is := metadata["annotations"].(map[string]any); is {
			delete(annotations, "kubectl.kubernetes.io/last-applied-configuration")
		}
	}
	hideIn(object)
}

func hideIn(value any) {
	switch value := value.(type) {
	case map[string]any:
		for name, item := range value {
			if isSecretField(name, item) {
				value[name] = hidden
				continue
			}
			if content, is := item.(string); is {
				value[name] = redact.RedactText(content)
				continue
			}
			if slices.Contains(variableLists, name) {
				hideValues(item)
			}
			hideIn(item)
		}
	case []any:
		for i, item := range value {
			if content, is := item.(string); is {
				value[i] = redact.RedactText(content)
				continue
			}
			hideIn(item)
		}
	}
}

// hideValues masks the values of variables.
func hideValues(variables any) {
	list, _ := variables.([]any)
	for _, item := range list {
		if variable, is := item.(map[string]any); is && variable["value"] != nil {
			variable["value"] = hidden
		}
	}
}

// isSecretField reports whether a field holds a secret. References to Secrets are objects or names, which are none.
func isSecretField(name string, value any) bool {
	if slices.Contains(secretFields, strings.ToLower(name)) {
		// The values of a selector are a list.
		_, isList := value.([]any)
		return value != nil && (!isList || !strings.EqualFold(name, "values"))
	}
	if !text.IsSecretName(name) {
		return false
	}
	switch value := value.(type) {
	case string, []byte:
		return true
	case []any:
		return len(value) > 0 && isText(value[0])
	}
	return false
}

func isText(value any) bool {
	_, is := value.(string)
	return is
}
