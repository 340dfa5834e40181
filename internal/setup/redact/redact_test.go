package redact_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
)

const canary = "canary-3f0c"

func TestNothingSecretPasses(t *testing.T) {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "credential"},
		Data: map[string][]byte{"clientSecret": []byte(canary)}}
	pem := "-----BEGIN RSA PRIVATE KEY-----\n" + canary + "\n-----END RSA PRIVATE KEY-----"
	tests := map[string]struct {
		reason string
		pairs  []any
		// remains is the text that must remain.
		remains string
	}{
		"body": {"client-go logs bodies from level 8 on", []any{"body", `{"kind":"Secret","data":{"value":"` + canary + `"}}`},
			"bytes (left out)"},
		"hex":             {"those in protobuf as a dump", []any{"body", "00000000  " + canary}, "bytes (left out)"},
		"object":          {"an object is named", []any{"object", secret}, "Secret team/credential"},
		"list":            {"also one that has no name", []any{"objects", &corev1.SecretList{Items: []corev1.Secret{*secret}}}, "SecretList"},
		"value":           {"a copy that is no object", []any{"secret", *secret}, "left out"},
		"within":          {"something that holds one", []any{"loaded", map[string]any{"data": map[string]string{"value": canary}}}, "left out"},
		"bytes":           {"bytes are not readable in a log", []any{"raw", []byte(canary)}, "bytes (left out)"},
		"private key":     {"of a certificate", []any{"text", "before " + pem + " after"}, "before (left out) after"},
		"cut private key": {"one that was cut off", []any{"text", pem[:50+len(canary)/2]}, "(left out)"},
		"token":           {"a bearer token", []any{"header", "Bearer eyJhbGciOiJSUzI1NiJ9.eyJhdWQiOiJ4In0." + canary}, "Bearer (left out)"},
		"error": {"an error that quotes", []any{"error", errors.New(`decode {"clientSecret":"` + canary + `","tenantID":"t"}`)},
			`"tenantID":"t"`},
		"escaped quote":  {"a value with a quote in it", []any{"text", `{"password":"a\"` + canary + `"}`}, "(left out)"},
		"JSON in a text": {"azure.json in a file", []any{"text", `{"file":"{\"aadClientSecret\":\"` + canary + `\"}"}`}, "(left out)"},
		"nested": {"protected settings with objects in them", []any{"text", `{"protectedSettings":{"a":{"b":1},"c":"` + canary + `"}}`},
			"(left out)"},
		"form": {"a token request to Entra ID", []any{"text", "grant_type=x&client_secret=" + canary + "&scope=y"}, "&scope=y"},
		"proxy": {"the password of a URL", []any{"error", errors.New("proxyconnect http://user:" + canary + "@proxy:8080: refused")},
			"http://user:(left out)@proxy:8080: refused"},
		"windows password": {"of a VM's profile", []any{"text", `{"adminUsername":"capi","adminPassword": "` + canary + `"}`},
			`"adminUsername":"capi"`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			lines := map[string]string{}
			for where, write := range map[string]func(log *strings.Builder){
				"values": func(log *strings.Builder) { newLogger(log).Info("message", test.pairs...) },
				"with":   func(log *strings.Builder) { newLogger(log).WithValues(test.pairs...).WithName("n").Info("message") },
				"error": func(log *strings.Builder) {
					newLogger(log).Error(errors.New(`"token":"`+canary+`"`), "message", test.pairs...)
				},
			} {
				log := &strings.Builder{}
				write(log)
				lines[where] = log.String()
			}
			for where, line := range lines {
				if strings.Contains(line, canary) {
					t.Errorf("%s: %s shows the canary: %s", test.reason, where, line)
				}
				if !strings.Contains(strings.ReplaceAll(line, `\`, ""), test.remains) {
					t.Errorf("%s: %s lacks %q: %s", test.reason, where, test.remains, line)
				}
			}
		})
	}
}

func TestOrdinaryLinesStay(t *testing.T) {
	log := &strings.Builder{}
	ref := klog.KRef("team", "cluster")
	newLogger(log).Info("Ready", "AzureCluster", ref, "count", 3, "arguments", []string{"true"}, "err",
		fmt.Errorf("GET virtualNetworks/v: %w", errors.New("NotFound")))
	plain := &strings.Builder{}
	newBaseLogger(plain).Info("Ready", "AzureCluster", ref, "count", 3, "arguments", []string{"true"}, "err",
		fmt.Errorf("GET virtualNetworks/v: %w", errors.New("NotFound")))
	if log.String() != plain.String() {
		t.Errorf("got  %s\nwant %s", log, plain)
	}
	called := &strings.Builder{}
	newCallerLogger(called).Info("message")
	if !strings.Contains(called.String(), "redact_test.go") {
		t.Errorf("a line names the place that logs, got %s", called)
	}
}
