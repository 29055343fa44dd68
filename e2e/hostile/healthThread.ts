// Thread of `health.ts`.
import { setTimeout as delay } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import type { HealthAnswer } from './health.ts'

const stop = new AbortController()
parentPort?.once('message', () => stop.abort())

async function ask(port: number): Promise<HealthAnswer> {
  const beganMs = performance.now()
  try {
    await (await fetch(`http://127.0.0.1:${port}/healthz`, { signal: AbortSignal.timeout(5_000) })).text()
    return { port, tookMs: performance.now() - beganMs }
  } catch (error) {
    return { port, tookMs: performance.now() - beganMs, error: String(error) }
  }
}

while (!stop.signal.aborted) {
  for (const port of workerData as readonly number[]) parentPort?.postMessage(await ask(port))
  await delay(1_000, undefined, { signal: stop.signal }).catch(() => {})
}
