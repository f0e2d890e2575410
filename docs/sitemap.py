"""A sitemap for search engines: the address of every page below ``html_baseurl``.

A local extension of Sphinx, so that no package is needed for a dozen lines.
"""

from pathlib import Path
from xml.sax.saxutils import escape


def write_sitemap(app, exception):
    """Write ``sitemap.xml`` beside the pages of a finished build."""
    if exception is not None or app.builder.format != "html":
        return
    addresses = (
        app.config.html_baseurl + app.builder.get_target_uri(page)
        for page in sorted(app.env.found_docs)
    )
    lines = [f"  <url><loc>{escape(address)}</loc></url>" for address in addresses]
    namespace = "http://www.sitemaps.org/schemas/sitemap/0.9"
    text = "\n".join([f'<urlset xmlns="{namespace}">', *lines, "</urlset>", ""])
    header = '<?xml version="1.0" encoding="UTF-8"?>\n'
    Path(app.outdir, "sitemap.xml").write_text(header + text, encoding="utf-8")


def setup(app):
    """Register the extension."""
    app.connect("build-finished", write_sitemap)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
