package soak

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// A cluster is three PostgreSQL servers under Patroni with one etcd, all on loopback. This
// process starts them and kills them by their process IDs.
type cluster struct {
	t       *testing.T
	dir     string
	bin     string
	user    *syscall.Credential // the user that runs the servers; nil for our own
	etcd    *exec.Cmd
	members []*member
	ports   struct{ etcd, peer int }
}

// A member is one server and the Patroni that manages it.
type member struct {
	name     string
	cmd      *exec.Cmd
	rest, pg int
	data     string
}

const (
	clusterPassword = "drill"
)

// newCluster starts a new cluster in dir. It needs the packages of .ci/fleet.
func newCluster(t *testing.T, dir string) *cluster {
	t.Helper()
	c := &cluster{t: t, dir: dir}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	if len(found) == 0 {
		t.Fatal("there is no PostgreSQL server here")
	}
	c.bin = found[len(found)-1]
	if os.Getuid() == 0 {
		u, err := user.Lookup("postgres")
		if err != nil {
			t.Fatal(err)
		}
		uid, _ := strconv.Atoi(u.Uid)
		gid, _ := strconv.Atoi(u.Gid)
		c.user = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	}
	ports := freePorts(t, 8)
	c.ports.etcd, c.ports.peer = ports[0], ports[1]
	t.Cleanup(c.stop)
	c.own(dir)
	c.startEtcd()
	for i := range 3 {
		m := &member{name: fmt.Sprint("m", i+1), rest: ports[2+i], pg: ports[5+i]}
		m.data = filepath.Join(dir, m.name)
		if err := os.Mkdir(m.data, 0o700); err != nil {
			t.Fatal(err)
		}
		c.own(m.data)
		c.configure(m)
		c.members = append(c.members, m)
		c.launch(m)
	}
	c.whole()
	return c
}

func (c *cluster) own(path string) {
	if c.user == nil {
		return
	}
	if err := os.Chown(path, int(c.user.Uid), int(c.user.Gid)); err != nil {
		c.t.Fatal(err)
	}
}

// run starts a process in the background, with an environment of its own and a log in c.dir.
func (c *cluster) run(name string, args ...string) *exec.Cmd {
	c.t.Helper()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = []string{"PATH=" + c.bin + ":/usr/local/bin:/usr/bin:/bin", "LC_ALL=C.UTF-8", "HOME=" + c.dir}
	cmd.Dir = c.dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: c.user, Setsid: true}
	log, err := os.OpenFile(filepath.Join(c.dir, name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		c.t.Fatal(err)
	}
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	return cmd
}

func (c *cluster) startEtcd() {
	c.t.Helper()
	client, peer := fmt.Sprintf("http://127.0.0.1:%d", c.ports.etcd), fmt.Sprintf("http://127.0.0.1:%d", c.ports.peer)
	c.etcd = c.run("etcd", "etcd", "--name", "e1", "--data-dir", filepath.Join(c.dir, "etcd"), "--logger", "zap", "--log-level", "warn",
		"--listen-client-urls", client, "--advertise-client-urls", client, "--listen-peer-urls", peer,
		"--initial-advertise-peer-urls", peer, "--initial-cluster", "e1="+peer)
	c.until("etcd", func() bool { return c.code(c.ports.etcd, "/health") == http.StatusOK })
}

func (c *cluster) launch(m *member) {
	m.cmd = c.run(m.name, "patroni", filepath.Join(c.dir, m.name+".yml"))
}

// configure writes a member's settings. Times are short, because a drill is short. No commit is
// acknowledged that only one server has.
func (c *cluster) configure(m *member) {
	text := fmt.Sprintf(`scope: drill
name: %[1]s
restapi: {listen: "127.0.0.1:%[2]d", connect_address: "127.0.0.1:%[2]d"}
etcd3: {host: "127.0.0.1:%[3]d"}
watchdog: {mode: "off", safety_margin: -1}
bootstrap:
  dcs:
    ttl: 5
    loop_wait: 1
    retry_timeout: 2
    maximum_lag_on_failover: 1048576
    synchronous_mode: true
    synchronous_mode_strict: true
    synchronous_node_count: 2
    failsafe_mode: true
    primary_start_timeout: 0
    postgresql:
      use_pg_rewind: true
      use_slots: false
      parameters: {wal_log_hints: "on", max_connections: 200, shared_buffers: 64MB, wal_keep_size: 256MB,
                   synchronous_commit: "on", wal_receiver_status_interval: 1, wal_retrieve_retry_interval: 200ms}
  initdb: [{encoding: UTF8}, {locale: C.UTF-8}, data-checksums]
postgresql:
  listen: 127.0.0.1:%[4]d
  connect_address: 127.0.0.1:%[4]d
  bin_dir: %[5]s
  data_dir: %[6]s/data
  pgpass: %[6]s/pgpass
  parameters: {unix_socket_directories: ""}
  basebackup: [{checkpoint: fast}]
  remove_data_directory_on_rewind_failure: true
  remove_data_directory_on_diverged_timelines: true
  authentication:
    superuser: {username: postgres, password: %[7]s}
    replication: {username: replicator, password: %[7]s}
    rewind: {username: rewinder, password: %[7]s}
  pg_hba:
  - host all all 127.0.0.1/32 scram-sha-256
  - host replication replicator 127.0.0.1/32 scram-sha-256
`, m.name, m.rest, c.ports.etcd, m.pg, c.bin, m.data, clusterPassword)
	file := filepath.Join(c.dir, m.name+".yml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		c.t.Fatal(err)
	}
	c.own(file)
}

// code returns the HTTP status with which a server answers, or 0 if it does not answer.
func (c *cluster) code(port int, path string) int {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d%s", port, path), nil)
	if err != nil {
		return 0
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode
}

func (c *cluster) is(m *member, role string) bool { return c.code(m.rest, "/"+role) == http.StatusOK }

// primary returns the member that takes writes, or nil if no member does.
func (c *cluster) primary() *member {
	for _, m := range c.members {
		if c.is(m, "primary") {
			return m
		}
	}
	return nil
}

// standby returns a synchronous standby, or any standby if there is no synchronous one.
func (c *cluster) standby() *member {
	var other *member
	for _, m := range c.members {
		if c.is(m, "synchronous") {
			return m
		}
		if c.is(m, "replica") {
			other = m
		}
	}
	return other
}

// whole waits for one primary and two synchronous standbys that follow it. If both are
// synchronous, the promoted one is never behind the other, which would have to be rewound.
func (c *cluster) whole() {
	c.t.Helper()
	c.until("a whole cluster", func() bool {
		count := map[string]int{}
		for _, m := range c.members {
			for _, role := range []string{"primary", "replica", "synchronous"} {
				if c.is(m, role) {
					count[role]++
				}
			}
		}
		return count["primary"] == 1 && count["replica"] == 2 && count["synchronous"] == 2 && c.streaming() == 2
	})
}

// streaming returns how many standbys follow the primary.
func (c *cluster) streaming() (n int) {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, c.dsn(nil)+"&target_session_attrs=read-write")
	if err != nil {
		return 0
	}
	defer conn.Close(ctx)
	if conn.QueryRow(ctx, "select count(*) from pg_stat_replication where state = 'streaming'").Scan(&n) != nil {
		return 0
	}
	return n
}

// dsn returns the address of the database with all servers, at the given ports if there are any.
func (c *cluster) dsn(ports []int) string {
	var hosts []string
	for i, m := range c.members {
		port := m.pg
		if ports != nil {
			port = ports[i]
		}
		hosts = append(hosts, fmt.Sprintf("127.0.0.1:%d", port))
	}
	return fmt.Sprintf("postgres://postgres:%s@%s/postgres?connect_timeout=2", clusterPassword, strings.Join(hosts, ","))
}

// kill kills a server and its Patroni. It kills Patroni first, which would start the server
// again, and the server's children last, which would outlive the server.
func (c *cluster) kill(m *member) {
	list := []int{m.cmd.Process.Pid}
	if pid := c.postmaster(m); pid > 0 {
		list = append(append(list, pid), children(pid)...)
	}
	for _, pid := range list {
		_ = syscall.Kill(pid, syscall.SIGKILL) // it may be gone
	}
	_ = m.cmd.Wait() // it was killed
}

// postmaster returns the process ID of a member's server, or 0 if there is no such process or
// its command line does not name the member's folder.
func (c *cluster) postmaster(m *member) int {
	data, err := os.ReadFile(filepath.Join(m.data, "data", "postmaster.pid"))
	if err != nil {
		return 0
	}
	first, _, _ := strings.Cut(string(data), "\n")
	pid, err := strconv.Atoi(first)
	line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil || !strings.Contains(string(line), m.data) {
		return 0
	}
	return pid
}

func children(pid int) (list []int) {
	data, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	for _, word := range strings.Fields(string(data)) {
		if n, err := strconv.Atoi(word); err == nil {
			list = append(list, n)
		}
	}
	return list
}

// stop kills all members and etcd.
func (c *cluster) stop() {
	for _, m := range c.members {
		if m.cmd != nil {
			c.kill(m)
		}
	}
	if c.etcd != nil {
		_ = c.etcd.Process.Kill()
		_ = c.etcd.Wait() // it was killed
	}
}

func (c *cluster) until(what string, so func() bool) {
	c.t.Helper()
	for end := patience(c.t); !so(); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			c.t.Fatalf("waited in vain for %s:\n%s", what, c.said())
		}
	}
}

// said returns the ends of the servers' logs.
func (c *cluster) said() string {
	var b strings.Builder
	logs, _ := filepath.Glob(filepath.Join(c.dir, "*.log"))
	slices.Sort(logs)
	for _, file := range logs {
		data, err := os.ReadFile(file)
		if err == nil {
			fmt.Fprintf(&b, "%s: %s\n", filepath.Base(file), data[max(0, len(data)-800):])
		}
	}
	return b.String()
}
