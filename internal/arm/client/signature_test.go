package client

import (
	"strings"
	"testing"
)

// TestErrorsHideSignatures checks that an error that quotes the URL of a file does not give the rights of that URL to its readers.
func TestErrorsHideSignatures(t *testing.T) {
	const url = "https://a.blob.core.windows.net/c/x.vhd?sp=r&sig=CANARY&se=2026"
	for name, body := range map[string]string{
		"message": `{"error":{"code":"InvalidParameter","message":"cannot read ` + url + `"}}`,
		"detail":  `{"error":{"code":"Failed","message":"x","details":[{"code":"InvalidBlob","message":"cannot read ` + url + `","target":"` + url + `"}]}}`,
		"escaped": `{"error":{"code":"Failed","message":"cannot read ` + strings.ReplaceAll(url, "&", `\u0026`) + `","target":"` + url + `"}}`,
		"no JSON": "cannot read " + url,
	} {
		t.Run(name, func(t *testing.T) {
			got := ParseError([]byte(body)).Error()
			if strings.Contains(got, "CANARY") || !strings.Contains(got, "sig=(left out)") {
				t.Errorf("the error is %s", got)
			}
		})
	}
}
