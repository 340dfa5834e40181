package image

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

// TestNew makes an image of files that are no programs: its digests depend on their content only.
func TestNew(t *testing.T) {
	made := func(version, amd64, arm64 string) string {
		folder := t.TempDir()
		programs := map[string]string{}
		for architecture, content := range map[string]string{"amd64": amd64, "arm64": arm64} {
			programs[architecture] = filepath.Join(folder, architecture)
			if err := os.WriteFile(programs[architecture], []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		index, err := New(programs, []string{"amd64", "arm64"}, version)
		if err != nil {
			t.Fatal(err)
		}
		// The second write into the same folder replaces the first one.
		out := t.TempDir()
		for range 2 {
			if err := Write(out, index, version); err != nil {
				t.Fatal(err)
			}
		}
		read, err := Read(out)
		if err != nil {
			t.Fatal(err)
		}
		if err := validate.Index(read); err != nil {
			t.Errorf("the image is not valid: %v", err)
		}
		if media, err := read.MediaType(); err != nil || media != types.OCIImageIndex {
			t.Errorf("the index is of type %s: %v", media, err)
		}
		digest, err := read.Digest()
		if err != nil {
			t.Fatal(err)
		}
		return digest.String()
	}
	first := made("v1.0.0", "a", "b")
	for name, test := range map[string]struct {
		reason                string
		version, amd64, arm64 string
		same                  bool
	}{
		"again":   {"files have times of their own, which do not count", "v1.0.0", "a", "b", true},
		"version": {"it is in the labels", "v1.0.1", "a", "b", false},
		"program": {"the digest covers the program", "v1.0.0", "a", "c", false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := made(test.version, test.amd64, test.arm64); (got == first) != test.same {
				t.Errorf("%s: %s, and %s before", test.reason, got, first)
			}
		})
	}
}

func TestReadOfNothing(t *testing.T) {
	if _, err := Read(t.TempDir()); err == nil {
		t.Error("an empty folder is an image")
	}
}

// TestRoots looks for the roots that Azure's certificates have.
// https://learn.microsoft.com/azure/security/fundamentals/azure-certificate-authority-details
func TestRoots(t *testing.T) {
	names := map[string]bool{}
	for certificate := range certificates(t) {
		names[certificate.Subject.CommonName] = true
	}
	for _, name := range []string{"DigiCert Global Root G2", "DigiCert Global Root G3", "Microsoft RSA Root Certificate Authority 2017",
		"Microsoft ECC Root Certificate Authority 2017"} {
		if !names[name] {
			t.Errorf("%s is not among the roots", name)
		}
	}
}
