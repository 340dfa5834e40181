package bridge

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"io"
	"path"
	"regexp"
	"strings"
)

// bootFile is one file that a machine writes before it runs commands.
type bootFile struct {
	Path    string
	Content []byte
	// Unknown is the reason why the lab does not know the content that a machine would have.
	Unknown error
}

func (f bootFile) readContent() ([]byte, error) {
	if f.Unknown != nil {
		return nil, fmt.Errorf("%s: %w", f.Path, f.Unknown)
	}
	return f.Content, nil
}

// bootScript is what remains of a VM's custom data once the machine has read and written it: the files on disk and the
// commands in the order they run.
type bootScript struct {
	Files    map[string]bootFile
	Commands []string
	// WrittenBy and RunBy are the parts of the document that files and commands come from, for errors.
	WrittenBy, RunBy string
}

// bootFormat is a format of bootstrap data.
type bootFormat interface {
	// matches reports whether a machine would take the document as one of this format.
	matches(document []byte) bool
	// readDocument processes the document like a machine before it runs a command. The error names the part of the
	// document that a machine could not use.
	readDocument(document []byte, g guest) (*bootScript, error)
}

// bootFormats are what Cluster API's kubeadm bootstrap provider writes. The last one takes whatever is none of the others.
var bootFormats = []bootFormat{ignitionFormat{}, cloudInitFormat{}}

// readCustomData decodes a VM's custom data (base64, as ARM takes it) and processes it like the machine until kubeadm
// runs.
func readCustomData(g guest) (*bootScript, error) {
	if g.CustomData == "" {
		return nil, fmt.Errorf("osProfile.customData is empty: nothing on the machine starts kubeadm")
	}
	document, err := base64.StdEncoding.DecodeString(g.CustomData)
	if err != nil {
		return nil, fmt.Errorf("osProfile.customData is not base64: %w", err)
	}
	for _, format := range bootFormats {
		if !format.matches(document) {
			continue
		}
		script, err := format.readDocument(document, g)
		if err != nil {
			return nil, err
		}
		script.applyEdits(g)
		return script, nil
	}
	return nil, fmt.Errorf("osProfile.customData is neither cloud-config nor an Ignition config")
}

var (
	ownerPattern       = regexp.MustCompile(`^[a-z_][a-z0-9_.-]*(:[a-z_][a-z0-9_.-]*)?$`)
	permissionsPattern = regexp.MustCompile(`^0?[0-7]{3,4}$`)
	windowsPathPattern = regexp.MustCompile(`^[A-Za-z]:[\\/]`)
)

func cleanPath(p string) (string, error) {
	if p == "" {
		return "", fmt.Errorf("path is empty")
	}
	if windowsPathPattern.MatchString(p) {
		return strings.ReplaceAll(p, `\`, "/"), nil
	}
	if !path.IsAbs(p) {
		return "", fmt.Errorf("path is not absolute")
	}
	if path.Clean(p) != p {
		return "", fmt.Errorf("path is not clean: write %s", path.Clean(p))
	}
	return p, nil
}

func decodeBase64(s string) ([]byte, error) {
	data, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(s), ""))
	if err != nil {
		return nil, fmt.Errorf("content is not base64: %w", err)
	}
	return data, nil
}

func gunzip(data []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("content is not gzip: %w", err)
	}
	if data, err = io.ReadAll(r); err != nil {
		return nil, fmt.Errorf("content is not gzip: %w", err)
	}
	return data, nil
}

func abbreviateText(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return s[:n] + "..."
}
