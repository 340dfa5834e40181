// Package redact keeps what is secret out of logs, whoever logs it and at whatever level.
//
// Its promise: bodies of requests and of answers, which client libraries log from level 8 on and which hold Secrets, bootstrap
// data and protected settings, are never written; objects are named and not shown; and in text, private keys, tokens
// and the values of fields that hold secrets are left out. Of messages, other values and errors the beginning is logged, with control
// characters quoted, because they have text from outside. It does
// not know what is secret otherwise: who logs a credential under a name of its own is stopped by review and by the canary
// tests.
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

// secretKeys are names of values and of fields that hold secrets, in lower case.
var secretKeys = []string{
	"body", "data", "stringdata", "binarydata", "clientsecret", "client_secret", "client_assertion", "aadclientsecret", "aadclientcertpassword", "password",
	"adminpassword", "token", "access_token", "refresh_token", "authorization", "protectedsettings", "configurationprotectedsettings", "customdata", "userdata",
	"kubeconfig", "kubeconfigs", "certificate", "privatekey", "sharedkey",
}

// field finds such fields in JSON and in forms. A plain text goes to its closing quote; an object, a list and JSON within a text
// go to the end, because where they end is nothing that a pattern can tell.
var field = regexp.MustCompile(`(?is)(\\*"(?:` + strings.Join(secretKeys, "|") + `)\\*"\s*:\s*)(?:"(?:[^"\\]|\\.)*"?|\\+".*|[{[].*)|((?:^|[?&\s])(?:client_secret|client_assertion|password|access_token|refresh_token)=)[^&\s"]+`)

// key and token look alike wherever they stand: RFC 7468 and RFC 7519.
var (
	key   = regexp.MustCompile(`(?s)-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)`)
	token = regexp.MustCompile(`eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*`)
)

const left = "(left out)"

// Text is a text without what looks like a secret. It is short enough for a log, and cannot forge a line of it or steer a terminal.
func Text(logged string) string {
	return text.Cut(text.Printable(withoutSecrets(logged)), text.MaxLog)
}

func withoutSecrets(logged string) string {
	if strings.Contains(logged, "PRIVATE KEY-----") {
		logged = key.ReplaceAllString(logged, left)
	}
	if strings.Contains(logged, "eyJ") {
		logged = token.ReplaceAllString(logged, left)
	}
	return field.ReplaceAllString(logged, "${1}${2}"+left)
}

// Pairs are the keys and values of a log line without what is secret.
func Pairs(pairs []any) []any {
	out := slices.Clone(pairs)
	for i := 0; i+1 < len(out); i += 2 {
		name, _ := out[i].(string)
		if slices.Contains(secretKeys, strings.ToLower(name)) {
			out[i+1] = fmt.Sprintf("%s %s", size(out[i+1]), left)
			continue
		}
		out[i+1] = value(out[i+1])
	}
	return out
}

func size(v any) string {
	switch v := v.(type) {
	case string:
		return fmt.Sprintf("%d bytes", len(v))
	case []byte:
		return fmt.Sprintf("%d bytes", len(v))
	}
	return fmt.Sprintf("%T", v)
}

// value is a value as it may be logged.
func value(v any) any {
	switch v := v.(type) {
	case nil, bool, int, int32, int64, uint, uint32, uint64, float64:
		return v
	case string:
		return Text(v)
	case []byte:
		return size(v) + " " + left
	case json.RawMessage:
		return size([]byte(v)) + " " + left
	case error:
		return failure{v}
	case runtime.Object:
		return named(v)
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprintf("%T %s", v, left)
	}
	if rendered := string(raw); Text(rendered) != rendered {
		return Text(rendered)
	}
	return v
}

// named says which object it is.
func named(object runtime.Object) string {
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

// failure is an error whose text is without secrets; it stays the error that it wraps.
type failure struct{ error }

func (f failure) Error() string { return Text(f.error.Error()) }
func (f failure) Unwrap() error { return f.error }
