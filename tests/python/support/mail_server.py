"""An SMTP server of a test."""

from __future__ import annotations

import asyncio
import ssl
import subprocess
import threading
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path
from typing import Any

from aiosmtpd.smtp import SMTP, AuthResult


@dataclass(frozen=True)
class Certificate:
    """Of the server at 127.0.0.1, by nobody but itself."""

    file: Path
    key: Path

    @classmethod
    def make(cls, folder: Path) -> Certificate:
        made = cls(folder / "certificate.pem", folder / "key.pem")
        subprocess.run(
            [
                *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"),
                *("-keyout", made.key, "-out", made.file, "-subj", "/CN=127.0.0.1"),
                *("-addext", "subjectAltName=IP:127.0.0.1"),
            ],
            check=True,
            capture_output=True,
        )
        return made

    def context(self) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.file, self.key)
        return context


@dataclass
class MailServer:
    """Keeps the mails that it takes, with those of the envelope: (from, to, mail).

    With a certificate, it offers STARTTLS, or begins with TLS if `tls_at_once`. With a
    login (user, password), it needs one. Use as a context manager.
    """

    certificate: Certificate | None = None
    tls_at_once: bool = False
    login: tuple[bytes, bytes] | None = None
    refuses: bool = False
    mails: list[tuple[str, list[str], EmailMessage]] = field(default_factory=list)
    logins: list[tuple[bytes, bytes]] = field(default_factory=list)

    async def handle_DATA(self, _server: object, _session: object, envelope: Any) -> str:  # noqa: ANN401
        if self.refuses:
            return "554 not wanted"
        mail = message_from_bytes(envelope.content, _class=EmailMessage, policy=policy.default)
        self.mails.append((envelope.mail_from, envelope.rcpt_tos, mail))
        return "250 taken"

    def _authenticate(self, *asked: Any) -> AuthResult:  # noqa: ANN401
        data = asked[-1]
        self.logins.append((data.login, data.password))
        return AuthResult(success=(data.login, data.password) == self.login, handled=False)

    def _protocol(self) -> SMTP:
        context = self.certificate.context() if self.certificate else None
        return SMTP(
            self,
            hostname="localhost",
            tls_context=None if self.tls_at_once else context,
            authenticator=self._authenticate if self.login else None,
            auth_required=self.login is not None,
            auth_require_tls=not self.tls_at_once,
            loop=self._loop,
        )

    def __enter__(self) -> MailServer:
        self._loop = asyncio.new_event_loop()
        context = self.certificate.context() if self.certificate and self.tls_at_once else None
        self._server = self._loop.run_until_complete(
            self._loop.create_server(self._protocol, "127.0.0.1", 0, ssl=context)
        )
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.run_until_complete(self._close())
        self._loop.close()

    async def _close(self) -> None:
        self._server.close()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    def url(self) -> str:
        scheme = "smtps" if self.tls_at_once else "smtp"
        return f"{scheme}://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
