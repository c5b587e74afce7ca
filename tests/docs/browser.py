"""Chromium without a window, spoken to through its debugging pipe: what a page looks like, and what it complains of."""

import base64
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time


def find():
    """The browser's program, or None."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if shutil.which(name):
            return shutil.which(name)
    return None


class Page:
    """One page at a time. `complaints` are the console's errors and warnings, exceptions, and files that did not load."""

    def __init__(self, program):
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        to_browser, self.commands = os.pipe()
        self.answers, from_browser = os.pipe()

        def give_pipes():  # as descriptors 3 and 4
            os.dup2(to_browser, 3)
            os.dup2(from_browser, 4)

        # Moved out of the way of 3 and 4 first.
        to_browser, from_browser = (self.high(fd) for fd in (to_browser, from_browser))
        self.commands, self.answers = self.high(self.commands), self.high(self.answers)
        self.process = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe",
             "--disable-dev-shm-usage", "--hide-scrollbars",
             f"--user-data-dir={self.profile.name}", "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            preexec_fn=give_pipes, pass_fds=(3, 4))
        os.close(to_browser)
        os.close(from_browser)
        self.buffer, self.number, self.events, self.complaints = b"", 0, [], []
        self.session = None
        target = next(each for each in self.call("Target.getTargets")["targetInfos"] if each["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    @staticmethod
    def high(fd):
        import fcntl
        new = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 20)
        os.close(fd)
        return new

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        os.close(self.commands)
        os.close(self.answers)
        self.profile.cleanup()

    def message(self):
        while b"\0" not in self.buffer:
            read = os.read(self.answers, 1 << 16)
            if not read:
                raise RuntimeError("the browser has ended")
            self.buffer += read
        text, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(text)

    def call(self, method, **parameters):
        self.number += 1
        request = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            request["sessionId"] = self.session
        os.write(self.commands, json.dumps(request).encode() + b"\0")
        while True:
            message = self.message()
            if message.get("id") == self.number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']['message']}")
                return message["result"]
            self.take(message)

    def take(self, event):
        method, said = event.get("method"), event.get("params", {})
        self.events.append(method)
        if method == "Runtime.exceptionThrown":
            details = said["exceptionDetails"]
            self.complaints.append(details.get("exception", {}).get("description") or details["text"])
        elif method == "Runtime.consoleAPICalled" and said["type"] in ("error", "warning", "assert"):
            self.complaints.append(" ".join(str(each.get("value", each.get("description")))
                                            for each in said["args"]))
        elif method == "Log.entryAdded" and said["entry"]["level"] in ("error", "warning"):
            self.complaints.append(said["entry"]["text"] + " " + said["entry"].get("url", ""))
        elif method == "Network.loadingFailed" and not said.get("canceled"):
            self.complaints.append("did not load: " + said["errorText"])

    def show(self, width, height, dark=False):
        """The window's size, and which colours the reader prefers."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                  mobile=False)
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def open(self, path):
        """A file, or an address; waits until it is loaded."""
        self.complaints, self.events = [], []
        address = path if "://" in str(path) else pathlib.Path(path).resolve().as_uri()
        self.call("Page.navigate", url=address)
        while "Page.loadEventFired" not in self.events:
            self.take(self.message())

    def value(self, expression):
        """What JavaScript makes of the expression; a promise is waited for."""
        said = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in said:
            raise RuntimeError(said["exceptionDetails"].get("exception", {}).get("description", expression))
        return said["result"].get("value")

    def wait_for(self, expression, seconds=10):
        """Until the expression is true; False if it never is."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if self.value(expression):
                return True
            time.sleep(0.05)
        return False

    def key(self, key, code=None, text=None):
        """One key, pressed and let go: 'ArrowDown', 'Enter', 'a'."""
        text = text if text is not None else (key if len(key) == 1 else {"Enter": "\r"}.get(key, ""))
        number = {"Enter": 13, "Tab": 9, "Escape": 27, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39,
                  "ArrowDown": 40, "Home": 36, "End": 35}.get(key, ord(key.upper()) if len(key) == 1 else 0)
        for kind in ("keyDown", "keyUp"):
            down = {"text": text} if kind == "keyDown" and text else {}
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=code or key,
                      windowsVirtualKeyCode=number, **down)

    def picture(self, path, whole=False):
        """A screenshot as PNG: of the window, or of the whole page."""
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)["data"]
        pathlib.Path(path).write_bytes(base64.b64decode(data))
