// Package installation makes the files that install a release without clusterctl, from its objects: a Helm chart, a manifest for kubectl, the object
// of the Cluster API operator, and the list of images. It is pure: the same objects give the same files.
//
// With default values the chart renders the objects of the release, except for the namespace, which Helm creates. Names do not depend on the
// name of the Helm release, because a cluster can have the provider only once.
package installation

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// ChartName is the name of the chart and of its folder.
const ChartName = "cluster-api-provider-azure"

// Source has the objects that a chart is made from.
type Source struct {
	// Version is the version of the release, as in v2.0.0.
	Version string
	// Components are the objects of the release with the image, and Monitoring those of the component monitoring, as YAML documents.
	Components, Monitoring []byte
}

// object is an object of Kubernetes.
type object = map[string]any

// ChartFiles returns the files of the chart by their paths below its folder.
func ChartFiles(s Source) (map[string][]byte, error) {
	files := map[string][]byte{"values.schema.json": []byte(schema), "templates/NOTES.txt": []byte(installNotes)}
	image := ""
	for _, part := range []struct {
		documents []byte
		condition string
	}{{s.Components, ""}, {s.Monitoring, ".Values.monitoring.enabled"}} {
		for document := range strings.SplitSeq(string(part.documents), "\n---\n") {
			var o object
			if err := yaml.Unmarshal([]byte(document), &o); err != nil {
				return nil, err
			}
			if o["kind"] == "Deployment" {
				image, _ = containerOf(o)["image"].(string)
			}
			text, err := template(o, part.condition)
			if err != nil {
				return nil, fmt.Errorf("%v %v: %w", o["kind"], at(o, "metadata", "name"), err)
			}
			name := fmt.Sprintf("templates/%s-%v.yaml", strings.ToLower(fmt.Sprint(o["kind"])), at(o, "metadata", "name"))
			if files[name] != nil {
				return nil, fmt.Errorf("two objects have the file %s", name)
			}
			files[name] = []byte(text)
		}
	}
	repository, tag, digest, err := splitImage(image)
	if err != nil {
		return nil, err
	}
	files["values.yaml"] = []byte(strings.NewReplacer("REPOSITORY", repository, "TAG", tag, "DIGEST", digest).Replace(values))
	files["Chart.yaml"], err = yaml.Marshal(map[string]any{
		"apiVersion": "v2", "name": ChartName, "type": "application", "version": strings.TrimPrefix(s.Version, "v"), "appVersion": s.Version,
		"description": "Cluster API infrastructure provider for Azure", "kubeVersion": ">= 1.30.0-0",
		"icon": "https://raw.githubusercontent.com/cncf/artwork/main/projects/kubernetes/icon/color/kubernetes-icon-color.svg",
	})
	return files, err
}

// splitImage splits the name of an image, as in registry.example/controller:v2.0.0@sha256:00.
func splitImage(image string) (repository, tag, digest string, err error) {
	rest, digest, _ := strings.Cut(image, "@")
	at := strings.LastIndexByte(rest, ':')
	if at < 0 || strings.Contains(rest[at:], "/") {
		return "", "", "", fmt.Errorf("the image %q of the Deployment has no tag", image)
	}
	return rest[:at], rest[at+1:], digest, nil
}

// ChartArchive returns the files of a chart as the archive that helm installs.
func ChartArchive(files map[string][]byte) ([]byte, error) {
	var out bytes.Buffer
	compressed := gzip.NewWriter(&out)
	archive := tar.NewWriter(compressed)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		err := archive.WriteHeader(&tar.Header{Name: path.Join(ChartName, name), Mode: 0o644, Size: int64(len(files[name])), Format: tar.FormatUSTAR})
		if err == nil {
			_, err = archive.Write(files[name])
		}
		if err != nil {
			return nil, err
		}
	}
	err := errors.Join(archive.Close(), compressed.Close())
	return out.Bytes(), err
}

// expression is a template that stands in the YAML as a string until the object is written: it replaces the string with its quotes.
var expression = regexp.MustCompile(`['"]?@@(.*?)@@['"]?`)

// template returns the template of an object, which is rendered if the condition is true, "" for always.
func template(o object, condition string) (string, error) {
	raw, err := yaml.Marshal(o)
	if err != nil {
		return "", err
	}
	// What looks like a template in the object is text.
	var literal object
	if err := yaml.Unmarshal(bytes.ReplaceAll(raw, []byte("{{"), []byte(openBraces)), &literal); err != nil {
		return "", err
	}
	own, err := parametrize(literal)
	if err != nil {
		return "", err
	}
	if raw, err = yaml.Marshal(replaceStrings(literal)); err != nil {
		return "", err
	}
	text := expression.ReplaceAllString(string(raw), "{{ $1 }}")
	text = strings.ReplaceAll(text, openBraces, "{{ \"{{\" }}")
	if left := variable.FindString(text); left != "" {
		return "", fmt.Errorf("no value of the chart sets %s", left)
	}
	for i, argument := range optionalElements {
		text = regexp.MustCompile(`(?m)^( *)- `+markOptional(i)+`\n`).ReplaceAllStringFunc(text, func(line string) string {
			indent, _, _ := strings.Cut(line, "-")
			return strings.ReplaceAll(argument, "INDENT", indent)
		})
	}
	if condition = cmp.Or(own, condition); condition != "" {
		text = "{{- if " + condition + " }}\n" + text + "{{- end }}\n"
	}
	if at(o, "metadata", "name") == secretsBinding {
		text += bindingsByNamespace
	}
	return text, nil
}

// openBraces stands for two braces of an object's own text.
const openBraces = "@OPEN-BRACES@"

var (
	// variable is a variable of clusterctl with its default.
	variable = regexp.MustCompile(`\$\{[A-Z0-9_]+[^}]*\}`)
	// namespace is the namespace of the release where it is not a part of another name.
	namespace = regexp.MustCompile(`\bcapz-system($|[^A-Za-z0-9-])`)
)

// replaceStrings replaces the namespace in all strings of a value.
func replaceStrings(value any) any {
	switch v := value.(type) {
	case object:
		for key, inner := range v {
			v[key] = replaceStrings(inner)
		}
	case []any:
		for i, inner := range v {
			v[i] = replaceStrings(inner)
		}
	case string:
		return namespace.ReplaceAllString(v, "{{ .Release.Namespace }}$1")
	}
	return value
}

// at returns the value at a path of keys, nil if there is none.
func at(value any, path ...string) any {
	for _, key := range path {
		inner, _ := value.(object)
		value = inner[key]
	}
	return value
}

func containerOf(deployment object) object {
	containers, _ := at(deployment, "spec", "template", "spec", "containers").([]any)
	if len(containers) != 1 {
		return nil
	}
	container, _ := containers[0].(object)
	return container
}
