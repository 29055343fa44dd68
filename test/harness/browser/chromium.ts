import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { WebSocket } from 'ws'

type Message = {
  readonly id?: number
  readonly method?: string
  readonly params?: unknown
  readonly result?: unknown
  readonly error?: { message: string }
}

/** Connection to one target of the browser. @see Chrome DevTools Protocol */
class Session {
  readonly #socket: WebSocket
  readonly #waiting = new Map<number, PromiseWithResolvers<unknown>>()
  readonly #listeners = new Map<string, (params: never) => void>()
  #id = 0

  constructor(socket: WebSocket) {
    this.#socket = socket
    socket.on('message', (data) => {
      const { id, method, params, result, error } = JSON.parse(String(data)) as Message
      if (method !== undefined) this.#listeners.get(method)?.(params as never)
      const call = id === undefined ? undefined : this.#waiting.get(id)
      if (error) call?.reject(new Error(error.message))
      else call?.resolve(result)
    })
  }

  on<Params>(method: string, run: (params: Params) => void): void {
    this.#listeners.set(method, run)
  }

  async send<Result>(method: string, params: object = {}): Promise<Result> {
    const id = ++this.#id
    const answer = Promise.withResolvers<unknown>()
    this.#waiting.set(id, answer)
    this.#socket.send(JSON.stringify({ id, method, params }))
    return (await answer.promise) as Result
  }

  close(): void {
    this.#socket.close()
  }
}

type Look = { readonly width: number; readonly height: number; readonly scheme: 'light' | 'dark' }

/** A page in a browser, with what it reported and requested. */
export interface BrowserPage {
  /** errors of the console, exceptions, and violations of the content policy */
  readonly errors: readonly string[]
  /** URLs of all requests */
  readonly requests: readonly string[]
  open(url: string): Promise<void>
  look(look: Look): Promise<void>
  /** Evaluates an expression, whose promise is awaited. */
  evaluate<T>(expression: string): Promise<T>
  /** Resolves when an expression is true. @throws Error after ten seconds */
  until(expression: string): Promise<void>
  press(key: 'Tab' | 'Enter'): Promise<void>
  type(text: string): Promise<void>
  /** @returns PNG of the upper part of the page */
  screenshot(height: number): Promise<Buffer>
  /** Collects garbage. @returns the bytes of JavaScript that are left, and the nodes of the document */
  memory(): Promise<{ readonly heapBytes: number; readonly nodes: number }>
}

export interface Browser extends AsyncDisposable {
  /** its main process */
  readonly pid: number
  newPage(): Promise<BrowserPage>
}

const keyCodes = { Tab: 9, Enter: 13 }

async function pageOf(session: Session): Promise<BrowserPage> {
  const errors: string[] = []
  const requests: string[] = []
  session.on<{ entry: { level: string; text: string; url?: string } }>('Log.entryAdded', ({ entry }) => {
    if (entry.level === 'error') errors.push(`${entry.text} ${entry.url ?? ''}`)
  })
  session.on<{ type: string; args: readonly { value?: unknown; description?: string }[] }>('Runtime.consoleAPICalled', ({ type, args }) => {
    if (type === 'error' || type === 'warning') errors.push(args.map(({ value, description }) => String(value ?? description)).join(' '))
  })
  session.on<{ exceptionDetails: { text: string; exception?: { description?: string } } }>(
    'Runtime.exceptionThrown',
    ({ exceptionDetails: details }) => {
      errors.push(details.exception?.description ?? details.text)
    },
  )
  session.on<{ request: { url: string } }>('Network.requestWillBeSent', ({ request }) => requests.push(request.url))
  for (const domain of ['Page', 'Runtime', 'Log']) await session.send(`${domain}.enable`)
  // without a buffer of answers, which would count as memory of the page
  await session.send('Network.enable', { maxTotalBufferSize: 0, maxResourceBufferSize: 0 })

  async function evaluate<T>(expression: string): Promise<T> {
    type Evaluated = { result: { value: T }; exceptionDetails?: { text: string; exception?: { description?: string } } }
    const { result, exceptionDetails: failed } = await session.send<Evaluated>('Runtime.evaluate', {
      ...{ expression, awaitPromise: true, returnByValue: true },
    })
    if (failed) throw new Error(failed.exception?.description ?? failed.text)
    return result.value
  }
  return {
    ...{ errors, requests, evaluate },
    async open(url): Promise<void> {
      const loaded = new Promise<void>((resolve) => session.on('Page.loadEventFired', () => resolve()))
      await session.send('Page.navigate', { url })
      await loaded
    },
    async look({ width, height, scheme }): Promise<void> {
      await session.send('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: false })
      await session.send('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value: scheme }] })
    },
    async until(expression): Promise<void> {
      const untilMs = performance.now() + 10_000
      while (!(await evaluate<boolean>(expression))) {
        if (performance.now() > untilMs) throw new Error(`not true: ${expression}`)
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
    },
    async press(key): Promise<void> {
      const event = { key, code: key, windowsVirtualKeyCode: keyCodes[key], ...(key === 'Enter' && { text: '\r' }) }
      await session.send('Input.dispatchKeyEvent', { type: 'keyDown', ...event })
      await session.send('Input.dispatchKeyEvent', { type: 'keyUp', ...event })
    },
    async type(text): Promise<void> {
      await session.send('Input.insertText', { text })
    },
    async screenshot(height): Promise<Buffer> {
      const width = await evaluate<number>('innerWidth')
      const clip = { x: 0, y: 0, width, height, scale: 1 }
      const { data } = await session.send<{ data: string }>('Page.captureScreenshot', { format: 'png', captureBeyondViewport: true, clip })
      return Buffer.from(data, 'base64')
    },
    async memory(): Promise<{ heapBytes: number; nodes: number }> {
      await session.send('HeapProfiler.collectGarbage')
      const { usedSize } = await session.send<{ usedSize: number }>('Runtime.getHeapUsage')
      const { nodes } = await session.send<{ nodes: number }>('Memory.getDOMCounters')
      return { heapBytes: usedSize, nodes }
    },
  }
}

async function connect(url: string): Promise<Session> {
  const socket = new WebSocket(url, { perMessageDeflate: false, maxPayload: 100_000_000 })
  await once(socket, 'open')
  return new Session(socket)
}

const programs = ['chromium', 'chromium-browser', 'google-chrome']

/** Returns the first program that starts, and the address of its DevTools. */
async function start(profile: string): Promise<{ child: ReturnType<typeof spawn>; url: string }> {
  const flags = [
    '--headless',
    '--no-sandbox',
    '--disable-gpu',
    '--no-first-run',
    '--hide-scrollbars',
    '--remote-debugging-port=0',
    `--user-data-dir=${profile}`,
  ]
  for (const program of programs) {
    const child = spawn(program, [...flags, 'about:blank'], { stdio: ['ignore', 'ignore', 'pipe'] })
    const opened = Promise.withResolvers<string | undefined>()
    child.once('error', () => opened.resolve(undefined))
    child.once('exit', () => opened.resolve(undefined))
    createInterface(child.stderr).on('line', (line) => {
      const [, url] = /^DevTools listening on (ws:\S+)$/.exec(line) ?? []
      if (url !== undefined) opened.resolve(url)
    })
    const url = await opened.promise
    if (url !== undefined) return { child, url }
  }
  throw new Error(`no browser starts: install the Debian package chromium (tried ${programs.join(', ')})`)
}

/** Starts a Chromium without a window. @throws Error when there is none */
export async function startBrowser(): Promise<Browser> {
  const profile = mkdtempSync(join(tmpdir(), 'basalt-chromium-'))
  const { child, url } = await start(profile)
  const { host } = new URL(url)
  const sessions: Session[] = []
  return {
    pid: child.pid ?? 0,
    async newPage(): Promise<BrowserPage> {
      const response = await fetch(`http://${host}/json/new?about:blank`, { method: 'PUT' })
      const { webSocketDebuggerUrl } = (await response.json()) as { webSocketDebuggerUrl: string }
      const session = await connect(webSocketDebuggerUrl)
      sessions.push(session)
      return await pageOf(session)
    },
    async [Symbol.asyncDispose](): Promise<void> {
      for (const session of sessions) session.close()
      child.kill()
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
      rmSync(profile, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}
