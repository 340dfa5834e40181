package inspect

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"golang.org/x/crypto/ssh"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	armclient "sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
	"sigs.k8s.io/cluster-api-provider-azure/internal/text"
)

// maxConsole bounds a serial console log. Of a longer one the end is kept.
const maxConsole = 8 << 20

// Console reads serial console logs.
type Console struct {
	Client    *armclient.Client
	Transport policy.Transporter
}

// Read returns the serial console log of a machine as plain text: without the control sequences of terminals, with line feeds as line ends.
func (c Console) Read(ctx context.Context, m *Machine) (string, error) {
	var vm virtualMachine
	if err := readResource(ctx, c.Client, m.VM, &vm); err != nil {
		return "", err
	}
	if !vm.Properties.DiagnosticsProfile.BootDiagnostics.Enabled {
		return "", fmt.Errorf("boot diagnostics of %s are off. Turn them on with az vm boot-diagnostics enable --ids %s", m.VM.ShortName(), arm.ShellQuote(string(m.VM)))
	}
	// https://learn.microsoft.com/rest/api/compute/virtual-machines/retrieve-boot-diagnostics-data
	response, err := c.Client.Post(ctx, m.VM, "retrieveBootDiagnosticsData", computeAPIVersion, nil)
	if err != nil {
		return "", err
	}
	var answer struct {
		SerialConsoleLogBlobURI string `json:"serialConsoleLogBlobUri"`
	}
	if err := json.Unmarshal(response.Body, &answer); err != nil {
		return "", fmt.Errorf("boot diagnostics of %s: %w", m.VM.ShortName(), err)
	}
	raw, err := c.readBlob(ctx, answer.SerialConsoleLogBlobURI)
	if err != nil {
		return "", fmt.Errorf("boot diagnostics of %s: %w", m.VM.ShortName(), err)
	}
	return text.StripTerminal(string(raw)), nil
}

// readBlob reads a blob whose URI has the credential. The URI is in no error, and the request has no other credential.
func (c Console) readBlob(ctx context.Context, uri string) ([]byte, error) {
	at, err := url.Parse(uri)
	if err != nil || at.Scheme != "https" || at.Host == "" || at.User != nil {
		return nil, fmt.Errorf("azure answers with a URI of the log that is not of HTTPS")
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return nil, fmt.Errorf("the URI of the log is not valid")
	}
	// Without this header the transport would unpack a compressed answer, whose length is not bounded by that of the answer.
	request.Header.Set("Accept-Encoding", "identity")
	response, err := c.Transport.Do(request)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be reached: %s", at.Host, withoutURL(err))
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answers with status %d", at.Host, response.StatusCode)
	}
	return readEnd(response.Body)
}

// withoutURL returns the text of an error without the URL that it contains.
func withoutURL(err error) string {
	if failure, is := errors.AsType[*url.Error](err); is {
		return failure.Err.Error()
	}
	return "the request failed"
}

// readEnd reads at most the last bytes of a log. It ends after 16 times as many.
func readEnd(in io.Reader) (out []byte, err error) {
	in = io.LimitReader(in, 16*maxConsole)
	buffer := make([]byte, 64<<10)
	for {
		n, err := in.Read(buffer)
		if out = append(out, buffer[:n]...); len(out) > 2*maxConsole {
			out = append([]byte(nil), out[len(out)-maxConsole:]...)
		}
		if err == io.EOF {
			return out[max(0, len(out)-maxConsole):], nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// CloudInitLines returns the lines of cloud-init in a console log, without the prefix that the kernel or systemd gives them.
func CloudInitLines(log string) string {
	var out strings.Builder
	for line := range strings.Lines(log) {
		if _, after, is := strings.Cut(line, "cloud-init["); is {
			if _, message, is := strings.Cut(after, "]: "); is {
				out.WriteString(message)
				continue
			}
		}
		if strings.HasPrefix(line, "ci-info:") || strings.HasPrefix(line, "Cloud-init v. ") {
			out.WriteString(line)
		}
	}
	return out.String()
}

// The marks between which cloud-init writes the public host keys to the console.
// https://cloudinit.readthedocs.io/en/latest/reference/modules.html#keys-to-console
const (
	beginKeys = "-----BEGIN SSH HOST KEY KEYS-----"
	endKeys   = "-----END SSH HOST KEY KEYS-----"
)

// HostKeys returns the public host keys in a console log: those of the last boot that wrote some.
func HostKeys(log string) (out []ssh.PublicKey) {
	begin := strings.LastIndex(log, beginKeys)
	if begin < 0 {
		return nil
	}
	block, _, complete := strings.Cut(log[begin+len(beginKeys):], endKeys)
	if !complete {
		return nil
	}
	for line := range strings.Lines(block) {
		// Lines may have the prefix of the kernel or systemd.
		for i, word := range strings.Fields(line) {
			if strings.HasPrefix(word, "ssh-") || strings.HasPrefix(word, "ecdsa-") || strings.HasPrefix(word, "sk-") {
				if key, _, _, _, err := ssh.ParseAuthorizedKey([]byte(strings.Join(strings.Fields(line)[i:], " "))); err == nil {
					out = append(out, key)
				}
				break
			}
		}
	}
	return out
}
