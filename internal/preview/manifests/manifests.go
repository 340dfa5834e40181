// Package manifests reads the objects of a plan from manifests.
//
// It reads files and changes nothing.
package manifests

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"

	"sigs.k8s.io/cluster-api-provider-azure/internal/userinput"
)

// Document is one object of a manifest.
type Document struct {
	*unstructured.Unstructured
	// Source is the file that it is from.
	Source string
}

// HasTopology reports whether a document is a Cluster whose objects Cluster API makes from a ClusterClass.
func (d Document) HasTopology() bool {
	spec, _ := d.Object["spec"].(map[string]any)
	_, has := spec["topology"]
	return has && d.GetKind() == "Cluster"
}

// maxDocuments bounds the objects of one plan, and maxManifest the bytes of one file.
const (
	maxDocuments = 20000
	maxManifest  = 64 << 20
)

// Standard is the name of the standard input.
const Standard = "-"

// ErrNoCluster is the error of manifests without the objects of a cluster, such as those of another program.
var ErrNoCluster = errors.New("the manifests have no cluster of this provider. Use -f with a file that has a Cluster with its infrastructure")

// Files opens files by the names that users give: a folder of the computer, and the standard input.
type Files struct {
	// Open opens a file, and Folder returns the file system of a folder, or false if the name is not that of a folder.
	Open   func(name string) (io.ReadCloser, error)
	Folder func(name string) (fs.FS, bool)
	// Input is the standard input.
	Input io.Reader
}

// Read returns the objects of files, of all manifests in folders and below them, and of the standard input for "-". Of an object that occurs
// more than once, as an identity that several clusters share, the last one counts, as with kubectl apply.
func (f Files) Read(names []string) (out []Document, err error) {
	for _, name := range names {
		documents, err := f.readName(name)
		if err != nil {
			return nil, err
		}
		if out = append(out, documents...); len(out) > maxDocuments {
			return nil, tooMany(name)
		}
	}
	return keepLast(out), nil
}

// keepLast returns the documents with the last one of each object, at the place of its first.
func keepLast(documents []Document) (out []Document) {
	type key struct{ group, kind, namespace, name string }
	places := map[key]int{}
	for _, d := range documents {
		kind := d.GroupVersionKind()
		of := key{kind.Group, kind.Kind, d.GetNamespace(), d.GetName()}
		if at, known := places[of]; known {
			out[at] = d
			continue
		}
		places[of] = len(out)
		out = append(out, d)
	}
	return out
}

func (f Files) readName(name string) ([]Document, error) {
	if name == Standard {
		return Decode("standard input", f.Input)
	}
	if folder, is := f.Folder(name); is {
		return readFolder(name, folder)
	}
	file, err := f.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	return Decode(name, file)
}

// readFolder reads the files of a folder that end like manifests, in the order of their names.
func readFolder(name string, folder fs.FS) (out []Document, err error) {
	err = fs.WalkDir(folder, ".", func(at string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !slices.Contains([]string{".yaml", ".yml", ".json"}, strings.ToLower(path.Ext(at))) {
			return err
		}
		file, err := folder.Open(at)
		if err != nil {
			return err
		}
		defer func() { _ = file.Close() }()
		documents, err := Decode(path.Join(name, at), file)
		if out = append(out, documents...); err == nil && len(out) > maxDocuments {
			err = tooMany(name)
		}
		return err
	})
	return out, err
}

// variable finds a variable of clusterctl that has no value.
var variable = regexp.MustCompile(`\$\{[A-Za-z_][A-Za-z0-9_]*[^}]*\}`)

// Decode reads the objects of one manifest.
func Decode(source string, from io.Reader) (out []Document, err error) {
	limited := &io.LimitedReader{R: from, N: maxManifest + 1}
	reader := yaml.NewYAMLReader(bufio.NewReader(limited))
	for n := 1; ; n++ {
		raw, err := reader.Read()
		if limited.N == 0 {
			return nil, fmt.Errorf("%s: there are more than %d bytes. Split the manifest", source, maxManifest)
		}
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", source, err)
		}
		if len(bytes.TrimSpace(raw)) == 0 {
			continue
		}
		if found := variable.Find(withoutComments(raw)); found != nil {
			return nil, fmt.Errorf("%s: the variable %s has no value; render the template first, for example with clusterctl generate cluster", source,
				found)
		}
		object := &unstructured.Unstructured{}
		if object.Object, err = userinput.DecodeObject(raw); err != nil {
			return nil, fmt.Errorf("%s: object %d: %w", source, n, err)
		}
		if len(object.Object) == 0 {
			continue // Only comments.
		}
		documents, err := expand(source, n, object)
		if err != nil {
			return nil, err
		}
		if out = append(out, documents...); len(out) > maxDocuments {
			return nil, tooMany(source)
		}
	}
}

func tooMany(source string) error {
	return fmt.Errorf("%s: there are more than %d objects. Plan fewer at a time", source, maxDocuments)
}

// withoutComments returns YAML without the lines that are comments.
func withoutComments(raw []byte) []byte {
	lines := bytes.Split(raw, []byte("\n"))
	return bytes.Join(slices.DeleteFunc(lines, func(line []byte) bool { return bytes.HasPrefix(bytes.TrimSpace(line), []byte("#")) }), []byte("\n"))
}

// expand returns an object, or those of a list.
func expand(source string, n int, object *unstructured.Unstructured) (out []Document, err error) {
	if errs := userinput.FindWrongTypes(object.Object, nil, &metav1.PartialObjectMetadata{}); len(errs) > 0 {
		return nil, fmt.Errorf("%s: object %d: %w", source, n, errs.ToAggregate())
	}
	if object.GetKind() == "" || object.GetAPIVersion() == "" {
		return nil, fmt.Errorf("%s: object %d has no kind or no apiVersion", source, n)
	}
	if !isList(object) {
		if object.GetName() == "" {
			return nil, fmt.Errorf("%s: %s, object %d, has no name", source, object.GetKind(), n)
		}
		return []Document{{Unstructured: object, Source: source}}, nil
	}
	var header struct {
		Items []map[string]any `json:"items"`
	}
	if errs := userinput.FindWrongTypes(object.Object, nil, &header); len(errs) > 0 {
		return nil, fmt.Errorf("%s: object %d: %w", source, n, errs.ToAggregate())
	}
	list, err := object.ToList()
	if err != nil {
		return nil, fmt.Errorf("%s: object %d: %w", source, n, err)
	}
	for i := range list.Items {
		documents, err := expand(source, n, &list.Items[i])
		if err != nil {
			return nil, err
		}
		out = append(out, documents...)
	}
	return out, nil
}

// isList reports whether an object is a list of objects, also one whose items have a wrong type.
func isList(object *unstructured.Unstructured) bool {
	_, has := object.Object["items"]
	return object.IsList() || has && object.GetKind() == "List"
}
