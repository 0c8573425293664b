"""Certificates of a test's own, made by openssl."""

import base64
import hashlib
import os
import subprocess

from .process import need


class Authority:
    """A certificate authority in a folder."""

    def __init__(self, folder, name="ca"):
        self.folder = os.path.join(folder, f"authority-{name}")
        os.makedirs(self.folder, exist_ok=True)
        self.certificate, self._key = f"{self.folder}/ca.pem", f"{self.folder}/ca.key"
        self._openssl("req", "-x509", *self._new_key(self._key), "-out", self.certificate, "-days", "30", "-subj", f"/CN=test {name}")

    @staticmethod
    def _new_key(path):
        return ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", path]

    def _openssl(self, *words, data=None):
        done = subprocess.run([need("openssl"), *words], capture_output=True, input=data, timeout=30, check=False)
        if done.returncode:
            raise RuntimeError(f"openssl {' '.join(words)}: {done.stderr.decode()}")
        return done.stdout

    def issue(self, name, alternatives, days=30):
        """A certificate for these alternative names ("DNS:pbx.test", "IP:10.0.0.1"); a negative number of days: it has
        ended. Returns it and its key as paths."""
        stem = f"{self.folder}/{name}"
        with open(f"{stem}.ext", "w") as file:
            file.write(f"subjectAltName={','.join(alternatives)}\nbasicConstraints=CA:FALSE\n")
        self._openssl("req", *self._new_key(f"{stem}.key"), "-out", f"{stem}.csr", "-subj", f"/CN={name}")
        self._openssl("x509", "-req", "-in", f"{stem}.csr", "-CA", self.certificate, "-CAkey", self._key, "-CAcreateserial",
                      "-out", f"{stem}.pem", "-days", str(days), "-extfile", f"{stem}.ext")
        return f"{stem}.pem", f"{stem}.key"

    def pin(self, certificate):
        """SHA-256 of a certificate's public key in base64."""
        key = self._openssl("x509", "-in", certificate, "-noout", "-pubkey")
        return base64.b64encode(hashlib.sha256(self._openssl("pkey", "-pubin", "-outform", "DER", data=key)).digest()).decode()
