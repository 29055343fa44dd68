import { readFileSync } from 'node:fs'
import type { Page } from '#rpc/server/healthPages'

/** Nothing from elsewhere is loaded, no other page may embed this one, and no form is sent. Icons are in the page itself. */
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

const headers: Readonly<Record<string, string>> = {
  'content-security-policy': policy,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-cache',
}

/** Built by `npm run build:page` from the sources in `web/`. */
const files = [
  ['/', 'index.html', 'text/html; charset=utf-8'],
  ['/page/page.js', 'page.js', 'text/javascript; charset=utf-8'],
  ['/page/page.css', 'page.css', 'text/css; charset=utf-8'],
] as const

/** Returns the files of the page by their path. Each is read when it is first requested. */
export function pageFiles(): ReadonlyMap<string, () => Page> {
  const read = new Map<string, string>()
  const contentOf = (name: string): string => {
    const content = read.get(name) ?? readFileSync(new URL(`assets/${name}`, import.meta.url), 'utf8')
    read.set(name, content)
    return content
  }
  return new Map(files.map(([path, name, type]) => [path, (): Page => ({ status: 200, content: contentOf(name), type, headers })]))
}
