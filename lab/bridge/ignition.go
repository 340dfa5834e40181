package bridge

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"sigs.k8s.io/cluster-api-provider-azure/internal/userinput"
)

// ignitionFormat is the format that Flatcar Container Linux reads, versions 2 and 3.
// https://www.flatcar.org/docs/latest/provisioning/ignition/specification/
type ignitionFormat struct{}

type ignitionConfig struct {
	Ignition struct {
		Version string `json:"version"`
		Config  struct {
			Append  []any `json:"append"`
			Merge   []any `json:"merge"`
			Replace struct {
				Source string `json:"source"`
			} `json:"replace"`
		} `json:"config"`
	} `json:"ignition"`
	Storage struct {
		Files []ignitionFile `json:"files"`
	} `json:"storage"`
	Systemd struct {
		Units []systemdUnit `json:"units"`
	} `json:"systemd"`
}

type ignitionFile struct {
	Filesystem string           `json:"filesystem"`
	Path       string           `json:"path"`
	Mode       *int             `json:"mode"`
	Contents   ignitionContents `json:"contents"`
	// Append is whether the contents are added in version 2, and a list of contents to add in version 3.
	Append json.RawMessage `json:"append"`
}

type ignitionContents struct {
	Source      string `json:"source"`
	Compression string `json:"compression"`
}

var ignitionVersion = regexp.MustCompile(`^([23])\.\d+\.\d+$`)

// matches finds JSON with the section that every Ignition config has. A document that only looks like it is one with a fault.
func (ignitionFormat) matches(document []byte) bool {
	return bytes.HasPrefix(bytes.TrimSpace(document), []byte("{")) && bytes.Contains(document, []byte(`"ignition"`))
}

// readDocument writes the files and finds the commands of the services that start with the machine.
func (ignitionFormat) readDocument(document []byte, _ guest) (*bootScript, error) {
	var config ignitionConfig
	if err := userinput.DecodeJSON(document, nil, &config); err != nil {
		return nil, fmt.Errorf("ignition config is not JSON that Ignition can read: %w", err)
	}
	version := ignitionVersion.FindStringSubmatch(config.Ignition.Version)
	if version == nil {
		return nil, fmt.Errorf("ignition config: ignition.version %q is none that Flatcar reads: use 2.x.y or 3.x.y", config.Ignition.Version)
	}
	if c := config.Ignition.Config; len(c.Append)+len(c.Merge) > 0 || c.Replace.Source != "" {
		return nil, fmt.Errorf("ignition config: ignition.config refers to other configs: the lab reads one config only")
	}
	script := &bootScript{Files: map[string]bootFile{}, WrittenBy: "storage.files"}
	for i, f := range config.Storage.Files {
		if err := f.writeTo(script, version[1] == "2"); err != nil {
			return nil, fmt.Errorf("ignition storage.files[%d] (%s): %w", i, f.Path, err)
		}
	}
	var started, unknown []string
	for _, service := range mergeUnits(config.Systemd.Units) {
		if !service.startsAtBoot() {
			continue
		}
		started = append(started, service.Name)
		for _, line := range service.listCommands() {
			commands, err := script.expandScript(line)
			if err != nil {
				unknown = append(unknown, err.Error())
			}
			script.Commands = append(script.Commands, commands...)
		}
	}
	script.RunBy = "ignition systemd.units (" + strings.Join(append([]string{"enabled services with contents: " + firstNonEmpty(strings.Join(started,
		", "), "none")}, unknown...), "; ") + ")"
	return script, nil
}

func (f ignitionFile) writeTo(script *bootScript, second bool) error {
	name, err := cleanPath(f.Path)
	if err != nil {
		return err
	}
	_, twice := script.Files[name]
	switch {
	case second && f.Filesystem == "":
		return fmt.Errorf("filesystem is missing: use root")
	case !second && twice:
		return fmt.Errorf("version 3 takes a path only once")
	}
	if f.Mode != nil && (*f.Mode < 0 || *f.Mode > 0o7777) {
		return fmt.Errorf("mode %d is no file mode: JSON has it as a decimal number, 420 is 0644", *f.Mode)
	}
	parts, onto := []ignitionContents{f.Contents}, bootFile{Path: name}
	switch added := string(f.Append); {
	case added == "" || added == "null" || added == "false":
	case second:
		onto = script.Files[name]
		onto.Path = name
	default:
		var more []ignitionContents
		if err := userinput.DecodeJSON(f.Append, field.NewPath("append"), &more); err != nil {
			return err
		}
		parts = append(parts, more...)
	}
	for _, part := range parts {
		content, unknown, err := part.decodeContent()
		if err != nil {
			return err
		}
		onto.Content = slices.Concat(onto.Content, content)
		if unknown != nil {
			onto.Unknown = unknown
		}
	}
	script.Files[name] = onto
	return nil
}

// decodeContent returns the content. unknown is the reason if only a machine can compute it.
func (c ignitionContents) decodeContent() (content []byte, unknown, err error) {
	if c.Source == "" {
		return nil, nil, nil
	}
	source, err := url.Parse(c.Source)
	if err != nil {
		return nil, nil, fmt.Errorf("contents.source is not a URL") // the error would have all of the content
	}
	if source.Scheme != "data" {
		// Nothing but the host: signatures that open blobs are in paths and queries.
		return nil, fmt.Errorf("its content comes from %s://%s, and the lab fetches nothing", source.Scheme, source.Host), nil
	}
	header, data, ok := strings.Cut(strings.TrimPrefix(c.Source, "data:"), ",")
	if !ok {
		return nil, nil, fmt.Errorf("contents.source is a data URL without a comma")
	}
	text, err := url.PathUnescape(data)
	if err != nil {
		return nil, nil, fmt.Errorf("contents.source is not escaped as URLs are")
	}
	content = []byte(text)
	if strings.HasSuffix(header, ";base64") {
		if content, err = decodeBase64(text); err != nil {
			return nil, nil, fmt.Errorf("contents.source: %w", err)
		}
	}
	switch c.Compression {
	case "":
		return content, nil, nil
	case "gzip":
		content, err = gunzip(content)
		return content, nil, err
	}
	return nil, nil, fmt.Errorf("contents.compression %q is unknown: use gzip", c.Compression)
}
