package aso

import "testing"

func TestVersion(t *testing.T) {
	tests := map[string]struct {
		reason  string
		patches []string
		preview bool
		want    string
	}{
		"nothing":          {reason: "the default version is used", want: "2025-10-01"},
		"preview features": {reason: "the newest preview has most of them", preview: true, want: "2026-05-02-preview"},
		"a version": {reason: "the patch is written for that version",
			patches: []string{"apiVersion: containerservice.azure.com/v1api20260501"}, want: "2026-05-01"},
		"a preview": {reason: "newer documents have no 1api",
			patches: []string{`{"apiVersion":"containerservice.azure.com/v20251002preview"}`}, want: "2025-10-02-preview"},
		"both": {reason: "the named version is more exact",
			patches: []string{`{"apiVersion":"containerservice.azure.com/v1api20260501"}`}, preview: true, want: "2026-05-01"},
		"several": {reason: "later patches win",
			patches: []string{`{"apiVersion":"containerservice.azure.com/v1api20251001"}`,
				`{"apiVersion":"containerservice.azure.com/v1api20260501"}`, `{"spec":{}}`}, want: "2026-05-01"},
		"unknown": {reason: "Azure may have more than the definitions",
			patches: []string{`{"apiVersion":"containerservice.azure.com/v1api20300101"}`}, want: "2030-01-01"},
		"another form": {reason: "a patch that cannot be read is refused elsewhere",
			patches: []string{`{"apiVersion":"containerservice.azure.com/v1"}`, `{"apiVersion":1}`, `[`,
				`{"apiVersion":"containerservice.azure.com/v1api20251001storage"}`}, want: "2025-10-01"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := APIVersionOf(test.patches, test.preview); got != test.want {
				t.Errorf("%s: got %s, want %s", test.reason, got, test.want)
			}
		})
	}
}
