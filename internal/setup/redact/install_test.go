package redact_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/component-base/logs"
	logsv1 "k8s.io/component-base/logs/api/v1"
	_ "k8s.io/component-base/logs/json/register"

	"sigs.k8s.io/cluster-api-provider-azure/internal/setup/redact"
)

// Logging belongs to a process, so the test below runs itself with these.
const asReader, asFormat = "READ_SECRET_AT", "READ_SECRET_FORMAT"

func TestMain(m *testing.M) {
	if os.Getenv(asReader) == "" {
		os.Exit(m.Run())
	}
	options := logs.NewOptions()
	options.Verbosity, options.Format = 10, strings.TrimPrefix(os.Getenv(asFormat), "plain ")
	if err := logsv1.ValidateAndApply(options, nil); err != nil {
		panic(err)
	}
	if options.Format == os.Getenv(asFormat) {
		redact.Install()
	}
	client := kubernetes.NewForConfigOrDie(&rest.Config{Host: os.Getenv(asReader)})
	if _, err := client.CoreV1().Secrets("team").Get(context.Background(), "credential", metav1.GetOptions{}); err != nil {
		panic(err)
	}
}

// TestBodiesOfClientGo reads a Secret with everything logged. Without the sink the log has it.
func TestBodiesOfClientGo(t *testing.T) {
	const value = "Y2FuYXJ5LTNmMGM=" // the canary as a Secret has it
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(
			`{"kind":"Secret","apiVersion":"v1","metadata":{"name":"credential","namespace":"team"},"data":{"clientSecret":"` + value + `"}}`))
	}))
	t.Cleanup(server.Close)
	for format, leaks := range map[string]bool{"text": false, "json": false, "plain text": true, "plain json": true} {
		t.Run(format, func(t *testing.T) {
			program, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			command := exec.CommandContext(t.Context(), program)
			command.Env = []string{asReader + "=" + server.URL, asFormat + "=" + format}
			out, err := command.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			if !strings.Contains(string(out), "Response Body") {
				t.Errorf("client-go is not as loud as it gets:\n%s", out)
			}
			if got := strings.Contains(string(out), value); got != leaks {
				t.Errorf("the log shows the Secret: %v, want %v\n%s", got, leaks, out)
			}
		})
	}
}
