package book_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/stopping"
	"sigs.k8s.io/cluster-api-provider-azure/test/bookshell"
)

// checkAnnotations looks for the provider's annotations in the reference, which is made from the code, because Kubernetes takes any, and reads
// those that stop clusters.
func (r *reader) checkAnnotations(arguments []string) error {
	page, err := os.ReadFile(filepath.Join(r.root, "docs", "book", "reference", "annotations.md"))
	if err != nil {
		return err
	}
	for _, argument := range arguments {
		name, value, set := strings.Cut(argument, "=")
		if !set {
			name = strings.TrimSuffix(argument, "-")
		}
		if !strings.HasPrefix(name, infrav1.GroupVersion.Group+"/") && !strings.HasPrefix(name, "sigs.k8s.io/cluster-api-provider-azure") {
			continue
		}
		if !strings.Contains(string(page), "| `"+name+"` |") {
			return fmt.Errorf("the provider has no annotation %s", name)
		}
		object := &metav1.ObjectMeta{Annotations: map[string]string{name: value}}
		if _, errs := stopping.ReadRequest(time.Now(), "AzureMachine", object, nil); set && len(errs) > 0 {
			return errs.ToAggregate()
		}
	}
	return nil
}

// goFlags are flags of go test, with whether a value follows.
var goFlags = map[string]bool{"-v": false, "-benchmem": false, "-run": true, "-bench": true, "-benchtime": true, "-timeout": true}

var testFunction = regexp.MustCompile(`(?m)^func ((?:Test|Benchmark|Fuzz)\w+)\(`)

// checkGo looks for the package of go test or go run, for a test or benchmark of the name, and for the flags that the package declares. It runs
// none, because measurements take hours.
func (r *reader) checkGo(call bookshell.Call) (string, error) {
	arguments := call.Arguments
	if len(arguments) < 2 || arguments[0] != "test" && arguments[0] != "run" {
		return "", fmt.Errorf("no rule here knows go %s", strings.Join(arguments, " "))
	}
	folder := filepath.Join(r.root, arguments[1])
	if inside := filepath.Join("sim", "conformance"); strings.HasSuffix(call.Folder, inside) {
		folder = filepath.Join(r.root, inside, arguments[1])
	}
	files, err := filepath.Glob(filepath.Join(strings.TrimSuffix(folder, "..."), "*.go"))
	if err != nil || len(files) == 0 {
		return "", fmt.Errorf("there is no package %s: %w", arguments[1], err)
	}
	var source strings.Builder
	for _, name := range files {
		raw, err := os.ReadFile(name)
		if err != nil {
			return "", err
		}
		source.Write(raw)
	}
	var names []string
	for _, match := range testFunction.FindAllStringSubmatch(source.String(), -1) {
		names = append(names, match[1])
	}
	for i := 2; i < len(arguments); i++ {
		flag := arguments[i]
		value, of := goFlags[flag]
		switch {
		case !of && strings.HasPrefix(flag, "-rapid."), !of && !strings.HasPrefix(flag, "-"):
		case !of && !regexp.MustCompile(`flag\.\w+\((?:&\w+, )?"`+regexp.QuoteMeta(flag[1:])+`"`).MatchString(source.String()):
			return "", fmt.Errorf("%s declares no flag %s", arguments[1], flag)
		case !value:
		default:
			i++
			if flag != "-run" && flag != "-bench" || arguments[i] == "^$" {
				continue
			}
			test, _, _ := strings.Cut(arguments[i], "/")
			pattern, err := regexp.Compile(test)
			if err != nil {
				return "", err
			}
			if !slices.ContainsFunc(names, pattern.MatchString) {
				return "", fmt.Errorf("%s has no test or benchmark %s", arguments[1], test)
			}
		}
	}
	return "", nil
}
