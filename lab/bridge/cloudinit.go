package bridge

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/internal/userinput"
)

// cloudInitFormat is cloud-config, with or without a Jinja header.
type cloudInitFormat struct{}

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

func (cloudInitFormat) matches([]byte) bool { return true }

// readDocument renders the Jinja template with the instance's metadata, reads the #cloud-config and decodes the files.
func (cloudInitFormat) readDocument(document []byte, g guest) (*bootScript, error) {
	text := string(document)
	switch {
	case bytes.HasPrefix(document, []byte{0x1f, 0x8b}):
		return nil, fmt.Errorf("osProfile.customData is gzip: the lab reads plain cloud-config and Ignition only")
	case strings.HasPrefix(text, "Content-Type: multipart"), strings.HasPrefix(text, "MIME-Version"):
		return nil, fmt.Errorf("osProfile.customData is a MIME multi-part archive: the lab reads plain cloud-config and Ignition only")
	}
	header, rest, _ := strings.Cut(text, "\n")
	if isJinjaHeader(header) {
		// The line break keeps the line numbers of errors those of the whole document.
		var err error
		if text, err = renderJinja("\n"+rest, instanceMetadata(g)); err != nil {
			return nil, fmt.Errorf("cloud-config template: %w", err)
		}
		text = text[1:]
		header, _, _ = strings.Cut(text, "\n")
	}
	if strings.TrimSpace(header) != "#cloud-config" {
		return nil, fmt.Errorf("osProfile.customData does not begin with #cloud-config (first line %q): cloud-init ignores it",
			abbreviateText(header, 60))
	}
	var config cloudConfig
	if err := userinput.Decode([]byte(text), nil, &config); err != nil {
		return nil, fmt.Errorf("cloud-config is not YAML cloud-init can read: %w", err)
	}
	script := &bootScript{Files: map[string]bootFile{}, WrittenBy: "write_files", RunBy: "cloud-config runcmd"}
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
	switch strings.ToLower(encoding) {
	case "", "text/plain":
		return []byte(content), nil
	case "b64", "base64":
		return decodeBase64(content)
	case "gz", "gzip":
		return gunzip([]byte(content))
	case "gz+base64", "gzip+base64", "gz+b64", "gzip+b64":
		data, err := decodeBase64(content)
		if err != nil {
			return nil, err
		}
		return gunzip(data)
	}
	return nil, fmt.Errorf("encoding %q is unknown: use base64, gzip or gzip+base64", encoding)
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
