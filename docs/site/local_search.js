// Search when the site is read from disk. There a page may neither load a file nor start a worker, so the
// theme's search finds nothing. Its index is also a script (search/search_index.js), and a frame of
// this page takes the worker's place: it has a global object of its own, which the worker's program needs.
if (location.protocol === "file:") {
  const base = new URL(".", document.currentScript.src);

  class FrameWorker extends EventTarget {
    constructor(url) {
      super();
      this.waiting = [];
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.appendChild(frame);
      const there = frame.contentWindow;
      // What the worker's program posts arrives here; what is posted here arrives there.
      there.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      there.importScripts = (...urls) => Promise.all(urls.map((each) => FrameWorker.run(there, each)));
      this.post = (data) => there.dispatchEvent(new there.MessageEvent("message", { data }));
      FrameWorker.run(there, url).then(() => {
        this.ready = true;
        this.waiting.splice(0).forEach(this.post);
      });
    }
    static run(there, url) {
      return new Promise((resolve, reject) => {
        const script = there.document.createElement("script");
        script.src = new URL(url, location.href).href;
        script.onload = resolve;
        script.onerror = () => reject(new Error("cannot load " + url));
        there.document.body.appendChild(script);
      });
    }
    postMessage(data) {
      if (this.ready) this.post(data);
      else this.waiting.push(data);
    }
    terminate() {}
  }
  window.Worker = FrameWorker;

  // The theme takes the index from here if it is there.
  window.__search = {
    index: new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.src = new URL("search/search_index.js", base).href;
      script.onload = () => resolve(window.haloSearchIndex);
      script.onerror = () => reject(new Error("cannot load search_index.js"));
      document.head.appendChild(script);
    }),
  };
}
