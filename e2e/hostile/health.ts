import { once } from 'node:events'
import { Worker } from 'node:worker_threads'

/** How a health listener answered, or why it did not. */
export type HealthAnswer = { readonly port: number; readonly tookMs: number; readonly error?: string }

/**
 * Asks health listeners every second in a thread of its own, until the signal: the attacks keep the thread that makes them busy for longer than an answer takes.
 * @param onAnswer called with each answer
 * @throws what ends the thread
 */
export async function watchHealth(ports: readonly number[], signal: AbortSignal, onAnswer: (answer: HealthAnswer) => void): Promise<void> {
  const thread = new Worker(new URL('./healthThread.ts', import.meta.url), { workerData: ports })
  thread.on('message', onAnswer)
  const ended = once(thread, 'exit')
  if (!signal.aborted) await Promise.race([once(signal, 'abort'), ended])
  thread.postMessage('stop')
  await ended
}
