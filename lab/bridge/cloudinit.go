package bridge

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"io"
	"path"
	"regexp"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"
)

// bootFile is one file cloud-init writes before it runs commands.
type bootFile struct {
	Path    string
	Content []byte
}

// bootScript is what remains of a VM's custom data after cloud-init has rendered and written it:
// the files on disk and the commands in the order they run.
type bootScript struct {
	Files    map[string]bootFile
	Commands []string
}

type cloudConfig struct {
	WriteFiles []struct {
		Path        string `json:"path"`
		Encoding    string `json:"encoding"`
		Owner       string `json:"owner"`
		Permissions any    `json:"permissions"`
		Append      bool   `json:"append"`
		Content     string `json:"content"`
	} `json:"write_files"`
	RunCmd []any `json:"runcmd"`
}

var (
	ownerPattern       = regexp.MustCompile(`^[a-z_][a-z0-9_.-]*(:[a-z_][a-z0-9_.-]*)?$`)
	permissionsPattern = regexp.MustCompile(`^0?[0-7]{3,4}$`)
	windowsPathPattern = regexp.MustCompile(`^[A-Za-z]:[\\/]`)
)

// readCustomData decodes a VM's custom data (base64, as ARM takes it) and does what cloud-init would:
// render the Jinja template with the instance's metadata, read the #cloud-config, decode the files.
// It returns an error that names the part of the document which a machine could not use.
func readCustomData(customData string, metadata map[string]string) (*bootScript, error) {
	if customData == "" {
		return nil, fmt.Errorf("osProfile.customData is empty: nothing on the machine starts kubeadm")
	}
	raw, err := base64.StdEncoding.DecodeString(customData)
	if err != nil {
		return nil, fmt.Errorf("osProfile.customData is not base64: %w", err)
	}
	text := string(raw)
	switch {
	case bytes.HasPrefix(raw, []byte{0x1f, 0x8b}):
		return nil, fmt.Errorf("osProfile.customData is gzip: the lab reads plain cloud-config only")
	case strings.HasPrefix(strings.TrimSpace(text), "{") && strings.Contains(text, `"ignition"`):
		return nil, fmt.Errorf("osProfile.customData is an Ignition config: the lab reads cloud-config only (KubeadmConfigSpec.format: cloud-config)")
	case strings.HasPrefix(text, "Content-Type: multipart"), strings.HasPrefix(text, "MIME-Version"):
		return nil, fmt.Errorf("osProfile.customData is a MIME multi-part archive: the lab reads plain cloud-config only")
	}
	header, rest, _ := strings.Cut(text, "\n")
	if isJinjaHeader(header) {
		// The line break keeps the line numbers of errors those of the whole document.
		if text, err = renderJinja("\n"+rest, metadata); err != nil {
			return nil, fmt.Errorf("cloud-config template: %w", err)
		}
		text = text[1:]
		header, _, _ = strings.Cut(text, "\n")
	}
	if strings.TrimSpace(header) != "#cloud-config" {
		return nil, fmt.Errorf("osProfile.customData does not begin with #cloud-config (first line %q): cloud-init ignores it", abbreviate(header, 60))
	}
	var config cloudConfig
	if err := yaml.Unmarshal([]byte(text), &config); err != nil {
		return nil, fmt.Errorf("cloud-config is not YAML cloud-init can read: %w", err)
	}
	script := &bootScript{Files: map[string]bootFile{}}
	for i, f := range config.WriteFiles {
		where := fmt.Sprintf("cloud-config write_files[%d] (%s)", i, f.Path)
		name, err := cleanPath(f.Path)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", where, err)
		}
		if f.Owner != "" && !ownerPattern.MatchString(f.Owner) {
			return nil, fmt.Errorf("%s: owner %q is not user:group", where, f.Owner)
		}
		if err := checkPermissions(f.Permissions); err != nil {
			return nil, fmt.Errorf("%s: %w", where, err)
		}
		content, err := decodeContent(f.Encoding, f.Content)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", where, err)
		}
		if f.Append {
			content = append(bytes.Clone(script.Files[name].Content), content...)
		}
		script.Files[name] = bootFile{Path: name, Content: content}
	}
	for i, c := range config.RunCmd {
		command, err := commandLine(c)
		if err != nil {
			return nil, fmt.Errorf("cloud-config runcmd[%d]: %w", i, err)
		}
		script.Commands = append(script.Commands, command)
	}
	return script, nil
}

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

func checkPermissions(p any) error {
	switch v := p.(type) {
	case nil:
		return nil
	case string:
		if v == "" || permissionsPattern.MatchString(v) {
			return nil
		}
	case float64:
		// YAML reads an unquoted 0644 as an octal number, which cloud-init accepts.
		if v >= 0 && v <= 0o7777 && v == float64(int(v)) {
			return nil
		}
	}
	return fmt.Errorf("permissions %v is not an octal mode such as '0640'", p)
}

func decodeContent(encoding, content string) ([]byte, error) {
	data := []byte(content)
	var err error
	switch strings.ToLower(encoding) {
	case "", "text/plain":
		return data, nil
	case "b64", "base64":
		return decodeBase64(content)
	case "gz", "gzip":
	case "gz+base64", "gzip+base64", "gz+b64", "gzip+b64":
		if data, err = decodeBase64(content); err != nil {
			return nil, err
		}
	default:
		return nil, fmt.Errorf("encoding %q is unknown: use base64, gzip or gzip+base64", encoding)
	}
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("content is not gzip: %w", err)
	}
	if data, err = io.ReadAll(r); err != nil {
		return nil, fmt.Errorf("content is not gzip: %w", err)
	}
	return data, nil
}

func decodeBase64(s string) ([]byte, error) {
	data, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(s), ""))
	if err != nil {
		return nil, fmt.Errorf("content is not base64: %w", err)
	}
	return data, nil
}

// commandLine joins a runcmd entry, which is a shell line or an argument list.
func commandLine(c any) (string, error) {
	switch v := c.(type) {
	case string:
		return v, nil
	case []any:
		words := make([]string, len(v))
		for i, w := range v {
			switch w := w.(type) {
			case string:
				words[i] = w
			case float64:
				words[i] = strconv.FormatFloat(w, 'f', -1, 64)
			default:
				return "", fmt.Errorf("argument %d is a %T, not a string", i, w)
			}
		}
		return strings.Join(words, " "), nil
	}
	return "", fmt.Errorf("is a %T, not a string or a list of strings", c)
}

func abbreviate(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return s[:n] + "..."
}
