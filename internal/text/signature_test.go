package text

import "testing"

func TestHideSignatures(t *testing.T) {
	for text, want := range map[string]string{
		"https://a.blob.core.windows.net/c/x.vhd?sv=2024-11-04&sp=r&sig=abc%2Fdef%3D&se=2026": "https://a.blob.core.windows.net/c/x.vhd?sv=2024-11-04&sp=r&sig=(left out)&se=2026",
		"cannot read 'https://a/c?SIG=abc': 403":                                              "cannot read 'https://a/c?SIG=(left out)': 403",
		`{"uri":"https://a/c?sp=r\u0026sig=abc\u0026se=1"}`:                                   `{"uri":"https://a/c?sp=r\u0026sig=(left out)\u0026se=1"}`,
		"the design=new of https://a/c?signature=x":                                           "the design=new of https://a/c?signature=x",
		"nothing": "nothing",
	} {
		if got := HideSignatures(text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
