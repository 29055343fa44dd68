import { execFileSync } from 'node:child_process'
import { createReadStream, existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { extname, join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Browser, startBrowser } from '#test/harness/browser/chromium'

const root = resolve(import.meta.dirname, '../..')
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const out = mkdtempSync(join(tmpdir(), 'basalt-site-'))
const types: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.css': 'text/css',
  '.js': 'text/javascript',
  '.json': 'application/json',
  '.png': 'image/png',
}

let server: Server
let browser: Browser
let url: string
beforeAll(async () => {
  for (const version of ['v0.1.0', 'v0.2.0'])
    execFileSync(process.execPath, ['scripts/site.ts', '--out', out, '--version', version], { cwd: root })
  rmSync(join(out, 'v0.1.0/migrate.html'))
  server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://x')
    const path = join(out, pathname.endsWith('/') ? `${pathname}index.html` : pathname)
    if (!existsSync(path) || !statSync(path).isFile()) return void response.writeHead(404).end()
    response.writeHead(200, { 'content-type': types[extname(path)] ?? 'text/plain' })
    if (request.method === 'HEAD') return void response.end()
    createReadStream(path).pipe(response)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  browser = await startBrowser()
}, 120_000)
afterAll(async () => {
  await browser?.[Symbol.asyncDispose]()
  server?.close()
  rmSync(out, { recursive: true })
})

type Violation = { readonly id: string; readonly impact: string; readonly nodes: readonly { readonly html: string }[] }

const looks = (['index', 'operators', 'reference/flags', 'runbooks/index'] as const).flatMap((page) =>
  (
    [
      [360, 'light'],
      [1_440, 'dark'],
    ] as const
  ).map(([width, scheme]) => ({ page, width, scheme })),
)

it.each(looks)(
  'documentation site in a browser: $page, $width px wide and $scheme, fits, is accessible and loads nothing from elsewhere',
  async (look) => {
    const page = await browser.newPage()
    await page.look({ ...look, height: 900 })
    await page.open(`${url}/v0.2.0/${look.page}.html`)
    await page.until('document.querySelectorAll("#version option").length === 2')
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(look.width)
    await page.evaluate(`${axe}; 0`)
    const violations = await page.evaluate<readonly Violation[]>('axe.run().then(({ violations }) => violations)')
    const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical')
    expect(serious.map(({ id, nodes }) => `${id}: ${nodes[0]?.html.slice(0, 100)}`)).toEqual([])
    expect(page.errors).toEqual([])
    expect(page.requests.filter((request) => !request.startsWith(`${url}/`) && !request.startsWith('data:'))).toEqual([])
    const images = process.env['BASALT_SCREENSHOTS']
    if (images !== undefined)
      execFileSync('tee', [join(images, `site-${look.width}-${look.page.replace('/', '-')}.png`)], {
        input: await page.screenshot(900),
        stdio: ['pipe', 'ignore', 'inherit'],
      })
  },
)

it('documentation site in a browser: the search leads to a heading by keyboard alone', async () => {
  const page = await browser.newPage()
  await page.open(`${url}/v0.2.0/reference/rpc.html`)
  await page.evaluate('document.querySelector("#search").focus()')
  await page.type('rollback')
  await page.until('document.querySelectorAll("#results a").length > 0')
  expect(await page.evaluate('document.querySelector("#found").textContent')).toMatch(/^\d+ found$/)
  await page.press('Enter')
  await page.until('location.pathname.endsWith("/migrate.html") && location.hash === "#rollback"')
  expect(page.errors).toEqual([])
})

it('documentation site in a browser: another version opens at the same page, or at its start when it has none', async () => {
  const choose = 'const choice = document.querySelector("#version"); choice.value = "v0.1.0"; choice.dispatchEvent(new Event("change")); 0'
  const page = await browser.newPage()
  await page.open(`${url}/v0.2.0/reference/flags.html`)
  await page.until('document.querySelectorAll("#version option").length === 2')
  await page.evaluate(`{ ${choose} }`)
  await page.until('location.pathname === "/v0.1.0/reference/flags.html"')
  await page.open(`${url}/v0.2.0/migrate.html`)
  await page.until('document.querySelectorAll("#version option").length === 2')
  await page.evaluate(`{ ${choose} }`)
  await page.until('location.pathname === "/v0.1.0/"')
  await page.open(`${url}/`)
  await page.until('location.pathname === "/v0.2.0/"')
})
