package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"time"
	"unicode"

	"dealflow/internal/config"
	"dealflow/internal/logs"
	"dealflow/internal/notify"
	"dealflow/schemas/api"
	"dealflow/serve"
)

// secretTimeout limits a command that prints a secret. It may ask a server, and no person can type anything.
const secretTimeout = time.Minute

// secret reads a secret: the variable <name>, the file <name>_file, or the output of the command <name>_command. There is
// no flag for it, because process lists show flags. It returns "" if none of them is set.
func (a *app) secret(ctx context.Context, name string) (string, error) {
	what := strings.ReplaceAll(name, "_", " ")
	setting, found, err := a.settings.sources.FindOne(
		config.Setting{Name: name, Kind: config.NotInFile}, config.Setting{Name: name + "_file"}, config.Setting{Name: name + "_command"})
	if err != nil {
		return "", usagef("%s: %w", what, err)
	}
	data := []byte(found.Text)
	switch setting.Name {
	case name + "_file":
		data, err = a.readSecretFile(ctx, what, found.Text)
	case name + "_command":
		data, err = runSecretCommand(ctx, found.Text)
	case "": // none is set
		return "", nil
	}
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	if err != nil {
		if setting.Name == name+"_file" {
			what += " file"
		}
		return "", usagef("%s, from %s: %w", what, found.From, err)
	}
	text := strings.TrimRight(string(data), "\r\n")
	if err := checkSecret(text, name == "signing_key"); err != nil {
		return "", usagef("%s, from %s: %w", what, found.From, err)
	}
	return text, nil
}

// checkSecret refuses a text that is no secret as it is. Its errors do not show it.
func checkSecret(text string, isList bool) error {
	switch {
	case strings.TrimSpace(text) == "":
		return errors.New("it is empty")
	case strings.HasPrefix(text, "\uFEFF"):
		return errors.New("it begins with a byte order mark, which is no part of it: save the file without one")
	case !isList && strings.ContainsFunc(text, unicode.IsControl):
		return errors.New("it has several lines, or a control character, which no secret has: want the secret alone")
	}
	return nil
}

// mostSecret is the size of the largest file that may contain a secret.
const mostSecret = 64 << 10

// readSecretFile reads a file that contains a secret. It warns if other users of the machine can read or write the file. Its errors do not have the
// path: a user who takes the setting for that of the secret itself has the secret there.
func (a *app) readSecretFile(ctx context.Context, what, path string) (data []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, secretTimeout)
	defer cancel()
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("%w (the setting is the path of a file; it is not shown here, in case it is the secret itself)", withoutPath(err))
	}
	data, err = readOnce(ctx, path)
	for err == nil && len(data) == 0 && info.Mode()&fs.ModeNamedPipe != 0 { // no program has opened it to write yet
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("no program has written to this pipe in %s", secretTimeout)
		case <-time.After(50 * time.Millisecond):
			data, err = readOnce(ctx, path)
		}
	}
	switch {
	case err != nil:
		return nil, withoutPath(err)
	case len(data) > mostSecret:
		return nil, fmt.Errorf("it has more than %d bytes, so it is no secret", mostSecret)
	}
	if info.Mode().Perm()&0o077 != 0 {
		mode := fmt.Sprintf("%04o", info.Mode().Perm())
		a.say().Warn("secret file is open to others", "secret", what, "path", path, "mode", mode,
			logs.Text("%s file %s: its mode is %s, so that other users can open it: want 0600; run `chmod 600 %s`", what, path, mode, path))
	}
	return data, nil
}

// readOnce reads a small file, or what is in a pipe until its writers have closed it; nothing if it has none.
func readOnce(ctx context.Context, path string) (data []byte, err error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // to open a pipe without a writer would wait without end
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	defer context.AfterFunc(ctx, func() { _ = f.SetReadDeadline(time.Unix(1, 0)) })() // only of a pipe: what is in other files is there at once
	return io.ReadAll(io.LimitReader(f, mostSecret+1))
}

// withoutPath returns the cause of an error about a file.
func withoutPath(err error) error {
	var named *fs.PathError
	if errors.As(err, &named) {
		return named.Err
	}
	return err
}

// runSecretCommand returns what a shell command prints on stdout. Nothing that the command prints is in the error: it
// may be the secret.
func runSecretCommand(ctx context.Context, command string) ([]byte, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, secretTimeout, fmt.Errorf("it took more than %s", secretTimeout))
	defer cancel()
	data, err := notify.Shell(ctx, command, nil).Output()
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("the command failed: %w; run it by hand to see what it says", err)
	}
	return data, nil
}

// account is the API's account.
type account struct {
	id     string
	secret api.Secret
}

// account returns the account of the settings. It is an error if a part of it is absent.
func (a *app) account(ctx context.Context) (account, error) {
	found, _ := a.settings.sources.Find(config.Setting{Name: "client_id"})
	text, err := a.secret(ctx, "client_secret")
	if err != nil {
		return account{}, err
	}
	var missing []string
	if found.Text == "" {
		missing = append(missing, "DEALFLOW_CLIENT_ID")
	}
	if text == "" {
		missing = append(missing, "DEALFLOW_CLIENT_SECRET (or DEALFLOW_CLIENT_SECRET_FILE, or DEALFLOW_CLIENT_SECRET_COMMAND)")
	}
	if len(missing) > 0 {
		return account{}, usagef("no credentials: set %s", strings.Join(missing, " and "))
	}
	return account{found.Text, api.NewSecret(text)}, nil
}

// signingKeys returns the keys that sign tokens and cursors, the newest first. They are separated by white space or
// commas.
func (a *app) signingKeys(ctx context.Context) ([][]byte, error) {
	text, err := a.secret(ctx, "signing_key")
	if err != nil {
		return nil, err
	}
	var keys [][]byte
	for i, key := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(",\r\n\t ", r) }) {
		if len(key) < serve.MinSigningKey {
			return nil, usagef("signing key %d: got %d characters, want %d at least (`openssl rand -base64 32` makes one)", i+1, len(key), serve.MinSigningKey)
		}
		keys = append(keys, []byte(key))
	}
	return keys, nil
}
