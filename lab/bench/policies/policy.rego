# The same fifty rules as floodmark.yaml and policy.cedar: for each tool the set
# of those that apply. What a rule asks for is looked up by its name. Trust and
# secrecy are numbers: untrusted 0 to system 5, secret 0 to public 3.
package floodmark

verdicts := {
	"tainted-late": "restrict",
	"unnamed": "confirm",
	"prefix": "restrict",
	"part": "confirm",
	"private-value": "audit",
	"secret-lured": "restrict",
	"suffix-late": "audit",
	"watched-agent": "confirm",
	"never": "restrict",
	"long-loop": "audit",
}

exec contains "tainted-late" if {
	input.iteration >= 8
	input.levels[0]
}

exec contains "unnamed" if {
	input.mark.trust <= 1
	not input.arg.command.stated
}

exec contains "prefix" if {
	input.mark.trust <= 2
	startswith(input.args.command, "curl ")
}

exec contains "part" if {
	contains(input.args.command, "| sh")
}

exec contains "private-value" if {
	input.mark.secrecy <= 1
	input.arg.workdir.trust <= 1
}

exec contains "secret-lured" if {
	input.mark.secrecy == 0
	input.arg.command.seen
	input.arg.command.trust == 0
}

exec contains "suffix-late" if {
	input.turn >= 3
	endswith(input.args.command, "&")
}

exec contains "watched-agent" if {
	input.mark.trust < 3
	input.agent in {"codex", "gemini"}
}

exec contains "never" if {
	input.args.command in {"rm -rf /", "reboot"}
}

exec contains "long-loop" if {
	input.iteration >= 5
	contains(input.args.workdir, "/tmp")
}

exec contains "long-loop" if {
	input.iteration >= 5
	startswith(input.args.workdir, "/etc")
}

send_email contains "tainted-late" if {
	input.iteration >= 8
	input.levels[0]
}

send_email contains "unnamed" if {
	input.mark.trust <= 1
	not input.arg.to.stated
}

send_email contains "prefix" if {
	input.mark.trust <= 2
	startswith(input.args.to, "all@")
}

send_email contains "part" if {
	contains(input.args.to, "@example.org")
}

send_email contains "private-value" if {
	input.mark.secrecy <= 1
	input.arg.body.trust <= 1
}

send_email contains "secret-lured" if {
	input.mark.secrecy == 0
	input.arg.to.seen
	input.arg.to.trust == 0
}

send_email contains "suffix-late" if {
	input.turn >= 3
	endswith(input.args.to, ".invalid")
}

send_email contains "watched-agent" if {
	input.mark.trust < 3
	input.agent in {"codex", "gemini"}
}

send_email contains "never" if {
	input.args.to in {"press@example.com", "board@example.com"}
}

send_email contains "long-loop" if {
	input.iteration >= 5
	contains(input.args.body, "password")
}

send_email contains "long-loop" if {
	input.iteration >= 5
	startswith(input.args.body, "Dear")
}

web_fetch contains "tainted-late" if {
	input.iteration >= 8
	input.levels[0]
}

web_fetch contains "unnamed" if {
	input.mark.trust <= 1
	not input.arg.url.stated
}

web_fetch contains "prefix" if {
	input.mark.trust <= 2
	startswith(input.args.url, "http://")
}

web_fetch contains "part" if {
	contains(input.args.url, "?q=")
}

web_fetch contains "private-value" if {
	input.mark.secrecy <= 1
	input.arg.note.trust <= 1
}

web_fetch contains "secret-lured" if {
	input.mark.secrecy == 0
	input.arg.url.seen
	input.arg.url.trust == 0
}

web_fetch contains "suffix-late" if {
	input.turn >= 3
	endswith(input.args.url, ".exe")
}

web_fetch contains "watched-agent" if {
	input.mark.trust < 3
	input.agent in {"codex", "gemini"}
}

web_fetch contains "never" if {
	input.args.url in {"https://example.net/login", "https://example.net/pay"}
}

web_fetch contains "long-loop" if {
	input.iteration >= 5
	contains(input.args.note, "token")
}

web_fetch contains "long-loop" if {
	input.iteration >= 5
	startswith(input.args.note, "Ignore")
}

write_file contains "tainted-late" if {
	input.iteration >= 8
	input.levels[0]
}

write_file contains "unnamed" if {
	input.mark.trust <= 1
	not input.arg.path.stated
}

write_file contains "prefix" if {
	input.mark.trust <= 2
	startswith(input.args.path, "/etc/")
}

write_file contains "part" if {
	contains(input.args.path, "/.git/")
}

write_file contains "private-value" if {
	input.mark.secrecy <= 1
	input.arg.text.trust <= 1
}

write_file contains "secret-lured" if {
	input.mark.secrecy == 0
	input.arg.path.seen
	input.arg.path.trust == 0
}

write_file contains "suffix-late" if {
	input.turn >= 3
	endswith(input.args.path, ".sh")
}

write_file contains "watched-agent" if {
	input.mark.trust < 3
	input.agent in {"codex", "gemini"}
}

write_file contains "never" if {
	input.args.path in {"Makefile", "AGENTS.md"}
}

write_file contains "long-loop" if {
	input.iteration >= 5
	contains(input.args.text, "#!/bin")
}

write_file contains "long-loop" if {
	input.iteration >= 5
	startswith(input.args.text, "export")
}

delete_record contains "tainted-late" if {
	input.iteration >= 8
	input.levels[0]
}

delete_record contains "unnamed" if {
	input.mark.trust <= 1
	not input.arg.table.stated
}

delete_record contains "prefix" if {
	input.mark.trust <= 2
	startswith(input.args.table, "audit_")
}

delete_record contains "part" if {
	contains(input.args.table, "users")
}

delete_record contains "private-value" if {
	input.mark.secrecy <= 1
	input.arg.id.trust <= 1
}

delete_record contains "secret-lured" if {
	input.mark.secrecy == 0
	input.arg.table.seen
	input.arg.table.trust == 0
}

delete_record contains "suffix-late" if {
	input.turn >= 3
	endswith(input.args.table, "_log")
}

delete_record contains "watched-agent" if {
	input.mark.trust < 3
	input.agent in {"codex", "gemini"}
}

delete_record contains "never" if {
	input.args.table in {"orders", "payments"}
}

delete_record contains "long-loop" if {
	input.iteration >= 5
	contains(input.args.id, "*")
}

delete_record contains "long-loop" if {
	input.iteration >= 5
	startswith(input.args.id, "all")
}
