import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'

/** Lies, in the order in which they are told. */
const lies = ['value', 'proof', 'stale', 'truncated', 'slow', 'limited'] as const
type Lie = (typeof lies)[number]

/** Node in front of a source of state, which spoils one response of a hundred. */
export type LyingSource = AsyncDisposable & { readonly url: string; readonly told: Readonly<Record<Lie, number>> }

/** Longer than a node waits for a range. */
const slowMs = 20_000
const every = 100

type Call = { readonly method: string; readonly params: readonly unknown[] }
type Texts = { text: string; readonly isProof: boolean; change(to: string): void }

/** Collects the values of hex in a result, with a way to change them. */
function hexIn(value: unknown, isProof: boolean, found: Texts[]): Texts[] {
  if (typeof value !== 'object' || value === null) return found
  for (const [key, part] of Object.entries(value)) {
    const isNode = isProof || /proof$|^state$/i.test(key)
    if (typeof part === 'string' && /^0x[0-9a-f]{2}/.test(part)) {
      found.push({ text: part, isProof: isNode, change: (to) => Object.assign(value, { [key]: to }) })
    } else hexIn(part, isNode, found)
  }
  return found
}

/** Changes a digit of a value, or of a node of a proof. @returns false: there is none */
function spoil(answer: unknown, lie: 'value' | 'proof', random: () => number): boolean {
  const found = hexIn(answer, false, []).filter(({ isProof }) => isProof === (lie === 'proof'))
  const chosen = found[Math.floor(random() * found.length)]
  if (chosen === undefined) return false
  const at = 2 + Math.floor(random() * (chosen.text.length - 2))
  const digit = (Number.parseInt(chosen.text[at] ?? '0', 16) ^ 1).toString(16)
  chosen.change(`${chosen.text.slice(0, at)}${digit}${chosen.text.slice(at + 1)}`)
  return true
}

/** Returns calls for the state of another block. @returns undefined when they name no block */
function staled(body: string, other: string): string | undefined {
  const calls = JSON.parse(body) as Call | readonly Call[]
  let isNamed = false
  const moved = [calls].flat().map((call) => {
    const params = (call as Call).params.map((param) => {
      if (typeof param !== 'object' || param === null || !('blockHash' in param)) return param
      isNamed = true
      return { ...param, blockHash: other }
    })
    return { ...(call as Call), params }
  })
  return isNamed ? JSON.stringify(Array.isArray(calls) ? moved : moved[0]) : undefined
}

/**
 * Starts a source that spoils one response of a hundred: a wrong value, a wrong proof, the state of another block, half a response, a slow one, HTTP 429.
 * @param target URL of the sound source @param other hash of a block whose state differs from the newest ones
 */
export async function startLyingSource(target: () => string, other: () => string, random: () => number): Promise<LyingSource> {
  const told: Record<Lie, number> = { value: 0, proof: 0, stale: 0, truncated: 0, slow: 0, limited: 0 }
  let [responses, next] = [0, 0]

  async function passed(body: string): Promise<string> {
    const headers = { 'content-type': 'application/json' }
    return (await fetch(target(), { method: 'POST', headers, body })).text()
  }

  /** @returns whether the response is sent */
  async function tell(lie: Lie, body: string, response: ServerResponse): Promise<boolean> {
    if (lie === 'limited') response.writeHead(429, { 'retry-after': '1' }).end()
    else if (lie === 'slow') {
      await delay(slowMs)
      response.end(await passed(body))
    } else if (lie === 'truncated') {
      const whole = await passed(body)
      response.end(whole.slice(0, whole.length >> 1))
    } else if (lie === 'stale') {
      const moved = staled(body, other())
      if (moved === undefined) return false
      response.end(await passed(moved))
    } else {
      const answer = JSON.parse(await passed(body)) as unknown
      if (
        !spoil(
          [answer].flat().map((part) => (part as { result: unknown }).result),
          lie,
          random,
        )
      )
        return false
      response.end(JSON.stringify(answer))
    }
    return true
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request)
    const lie = lies[next % lies.length]
    if (++responses >= every && lie && (await tell(lie, body, response))) {
      responses = 0
      next++
      told[lie]++
      return
    }
    response.end(await passed(body))
  }

  const server = createServer((request, response) => {
    answer(request, response).catch(() => request.socket.resetAndDestroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    told,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
    },
  }
}
