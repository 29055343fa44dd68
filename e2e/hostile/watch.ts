import { setTimeout as delay } from 'node:timers/promises'
import { type HealthAnswer, watchHealth } from './health.ts'
import type { Victims } from './victims.ts'

/** Bounds that must hold during the attacks. */
export const bounds = { lagSec: 5, healthMs: 500, residentBytes: 1.2 * 2 ** 30 } as const

/** Extremes seen so far. */
export type Seen = {
  lagSec: number[]
  healthMs: number[]
  residentBytes: Record<string, number>
  readonly failures: string[]
}

async function timestampOf(url: string): Promise<number | undefined> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_getBlockByNumber', params: ['latest', false] }),
      signal: AbortSignal.timeout(4_000),
    })
    const { result } = (await response.json()) as { result?: { timestamp?: string } }
    return result?.timestamp === undefined ? undefined : Number(result.timestamp)
  } catch {
    return undefined
  }
}

/** Samples the lag of the verifier, the health listeners and memory every second until the signal. */
export async function watch(victims: Victims, signal: AbortSignal): Promise<Seen> {
  const seen: Seen = { lagSec: [], healthMs: [], residentBytes: {}, failures: [] }
  const fail = (text: string): void => {
    seen.failures.push(text)
    process.stderr.write(`hostile: ${text}\n`)
  }
  const honest = `http://127.0.0.1:${victims.ports.http}`
  let lastAnswered: number | undefined

  async function sampleLag(): Promise<void> {
    const [sequencer, verifier] = await Promise.all([timestampOf(victims.devnet.started.urls.rpc), timestampOf(honest)])
    if (sequencer === undefined) return fail('the sequencer did not answer within 4 s')
    lastAnswered = verifier ?? lastAnswered
    const lag = sequencer - (lastAnswered ?? 0)
    seen.lagSec.push(lag)
    if (lag > bounds.lagSec)
      fail(`the verifier is ${lag} s behind the sequencer${verifier === undefined ? ' and did not answer within 4 s' : ''}`)
  }

  function health({ port, tookMs, error }: HealthAnswer): void {
    seen.healthMs.push(tookMs)
    if (error !== undefined) fail(`health listener on port ${port}: ${error}`)
    if (tookMs > bounds.healthMs) fail(`the health listener on port ${port} answered after ${tookMs.toFixed(0)} ms`)
  }

  function sampleMemory(): void {
    for (const [name, bytes] of Object.entries(victims.residentBytes())) {
      seen.residentBytes[name] = Math.max(seen.residentBytes[name] ?? 0, bytes)
      if (bytes > bounds.residentBytes) fail(`${name} has ${(bytes / 2 ** 20).toFixed(0)} MB resident`)
    }
  }

  const ended = new AbortController()
  const watched = watchHealth(victims.ports.health, ended.signal, health)
  while (!signal.aborted) {
    await Promise.all([sampleLag(), delay(1_000)])
    sampleMemory()
    const deaths = victims.deaths()
    if (deaths.length > 0) {
      for (const death of deaths) fail(death)
      break
    }
  }
  ended.abort()
  await watched
  return seen
}
