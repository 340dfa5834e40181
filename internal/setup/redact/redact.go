// Package redact removes secrets from logs, for all loggers of the process and at every level.
//
// Bodies of requests and responses, which client libraries log from level 8 on and which contain Secrets, bootstrap data and
// protected settings, are never written. Objects are logged by name only. Private keys, tokens and the values of fields that hold
// secrets are removed from text. Messages, other values and errors are shortened, and their control characters are quoted, because
// they contain text from outside. The package cannot recognise other secrets: review and the canary tests find credentials that are
// logged under another name.
package redact

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"

	"sigs.k8s.io/cluster-api-provider-azure/internal/text"
)

// secretKeys are the names of log values and JSON fields that hold secrets, in lower case, besides those of text.IsSecretName.
var secretKeys = []string{"body", "data", "stringdata", "binarydata"}

// isSecretKey reports whether a log value of this name is left out. The value of the name "secret" is the name of a Secret.
func isSecretKey(name string) bool {
	name = strings.ToLower(name)
	return slices.Contains(secretKeys, name) || name != "secret" && text.IsSecretName(name)
}

// field matches such fields in JSON and in forms. A string value is matched up to its closing quote; an object, a list or JSON
// within a string up to the end of the text, because a regular expression cannot find their end.
var field = regexp.MustCompile(`(?is)(\\*"(?:` + strings.Join(secretKeys,
	"|") + `|[\w.-]*` + text.SecretNames + `)\\*"\s*:\s*)(?:"(?:[^"\\]|\\.)*"?|\\+".*|[{[].*)|((?:^|[?&\s])(?:client_secret|client_assertion|password|access_token|refresh_token)=)[^&\s"]+`)

// key, token and userinfo match private keys (RFC 7468), JSON web tokens (RFC 7519) and the passwords of URLs (RFC 3986) in any text.
var (
	userinfo = regexp.MustCompile(`(://[^/\s:@"]*:)[^/\s@"]+@`)
	key      = regexp.MustCompile(`(?s)-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)`)
	token    = regexp.MustCompile(`eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*`)
)

const left = "(left out)"

// RedactText returns a text without anything that looks like a secret. The result is short enough for a log, and contains no line breaks
// or terminal control sequences.
func RedactText(logged string) string {
	return text.Truncate(text.QuoteUnprintable(withoutSecrets(logged)), text.MaxLog)
}

func withoutSecrets(logged string) string {
	if strings.Contains(logged, "PRIVATE KEY-----") {
		logged = key.ReplaceAllString(logged, left)
	}
	if strings.Contains(logged, "eyJ") {
		logged = token.ReplaceAllString(logged, left)
	}
	if strings.Contains(logged, "://") {
		logged = userinfo.ReplaceAllString(logged, "${1}"+left+"@")
	}
	return field.ReplaceAllString(text.HideSignatures(logged), "${1}${2}"+left)
}

// RedactPairs returns the keys and values of a log line without secrets.
func RedactPairs(pairs []any) []any {
	out := slices.Clone(pairs)
	for i := 0; i+1 < len(out); i += 2 {
		name, _ := out[i].(string)
		if isSecretKey(name) {
			out[i+1] = fmt.Sprintf("%s %s", describeSize(out[i+1]), left)
			continue
		}
		out[i+1] = redactValue(out[i+1])
	}
	return out
}

func describeSize(v any) string {
	switch v := v.(type) {
	case string:
		return fmt.Sprintf("%d bytes", len(v))
	case []byte:
		return fmt.Sprintf("%d bytes", len(v))
	}
	return fmt.Sprintf("%T", v)
}

// redactValue returns a value in a form that may be logged.
func redactValue(v any) any {
	switch v := v.(type) {
	case nil, bool, int, int32, int64, uint, uint32, uint64, float64:
		return v
	case string:
		return RedactText(v)
	case []byte:
		return describeSize(v) + " " + left
	case json.RawMessage:
		return describeSize([]byte(v)) + " " + left
	case error:
		return failure{v}
	case runtime.Object:
		return describeObject(v)
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprintf("%T %s", v, left)
	}
	if rendered := string(raw); RedactText(rendered) != rendered {
		return RedactText(rendered)
	}
	return v
}

// describeObject returns the kind, namespace and name of an object.
func describeObject(object runtime.Object) string {
	kind := object.GetObjectKind().GroupVersionKind().Kind
	if kind == "" {
		kind = fmt.Sprintf("%T", object)
	}
	accessor, err := meta.Accessor(object)
	if err != nil {
		return kind
	}
	return strings.TrimSpace(kind + " " + strings.TrimPrefix(accessor.GetNamespace()+"/"+accessor.GetName(), "/"))
}

// failure is an error whose text contains no secrets. It unwraps to the original error.
type failure struct{ error }

func (f failure) Error() string { return RedactText(f.error.Error()) }
func (f failure) Unwrap() error { return f.error }
