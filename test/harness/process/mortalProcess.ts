// A process with an execution worker on a small chain. It runs the commands of its parent until it is killed.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { l2RefOf } from '#chainspec/l2Ref'
import { type ExecutionWorker, type ExecutionWorkerOptions, startExecutionWorker } from '#executionThread/executionThread'
import { systemClock } from '#lib/clock'
import { silentLog } from '#lib/log'
import type { Address } from '#types/ids'
import type { Payload, PayloadAttributes } from '#types/payload'
import type { BlockLimits } from '#types/transactionPool'
import { scheduleTo, smallChain } from '../chain/blocks.ts'

type Settings = Omit<ExecutionWorkerOptions, 'config' | 'minFreeBytes'>

export const schedule = scheduleTo('isthmus')
const { genesis, config } = smallChain(schedule)

/** Starts a worker in this process, on the chain of `schedule`. */
export const startSmallExecution = (settings: Settings): Promise<ExecutionWorker> =>
  startExecutionWorker({ clock: systemClock, log: silentLog, genesis: () => genesis }, { ...settings, config, minFreeBytes: 0 })

/** Commands of the parent process. */
const commandHandlers = {
  add: ({ pool }: ExecutionWorker, raw: Uint8Array) => pool.add(raw),
  poolSize: ({ pool }: ExecutionWorker) => pool.size(),
  nextNonce: ({ pool }: ExecutionWorker, sender: Address) => pool.nextNonce(sender),
  limitBlocks: ({ pool }: ExecutionWorker, change: BlockLimits) => pool.limitBlocks(change),
  publishedSizes: async (worker: ExecutionWorker) => worker.sizes(),
  /** Builds a block on the unsafe head and makes it the unsafe head. */
  async extend(worker: ExecutionWorker, attributes: PayloadAttributes): Promise<Payload> {
    const heads = await worker.heads()
    const built = await worker.build(heads.unsafe, attributes)
    if (built.kind !== 'built') throw new Error(built.reason)
    await worker.setHeads({ ...heads, unsafe: l2RefOf(config, built.payload) })
    return built.payload
  },
}

type CommandHandlers = typeof commandHandlers
type Arguments<D extends keyof CommandHandlers> = CommandHandlers[D] extends (worker: ExecutionWorker, ...rest: infer R) => unknown
  ? R
  : never
type Answer<D extends keyof CommandHandlers> = Awaited<ReturnType<CommandHandlers[D]>>
type CommandMessage = { readonly id: number; readonly deed: keyof CommandHandlers; readonly rest: readonly unknown[] }
type Said = { readonly id: number; readonly answer?: unknown; readonly error?: unknown }

const [, script, settings = ''] = process.argv
if (process.send && script === import.meta.filename) {
  const starting = startSmallExecution(JSON.parse(settings) as Settings)
  process.once('disconnect', () => process.exit(1))
  process.on('message', async ({ id, deed, rest }: CommandMessage) => {
    const run = commandHandlers[deed] as (worker: ExecutionWorker, ...rest: readonly unknown[]) => Promise<unknown>
    const said: Said = await starting
      .then((worker) => run(worker, ...rest))
      .then(
        (answer) => ({ id, answer }),
        (error) => ({ id, error }),
      )
    process.send?.(said)
  })
}

export interface MortalProcess extends AsyncDisposable {
  /** Sends a command. @returns its result; rejects when the process exits first */
  tell<D extends keyof CommandHandlers>(deed: D, ...rest: Arguments<D>): Promise<Answer<D>>
  /** Sends SIGKILL. @returns when the process has exited */
  kill(): Promise<void>
}

/** Starts a process. Disposal kills it. */
export function startMortalProcess(settings: Settings): MortalProcess {
  const child = fork(import.meta.filename, [JSON.stringify(settings)], {
    execPath: process.execPath,
    execArgv: [],
    serialization: 'advanced',
  })
  const gone = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>
  const calls: PromiseWithResolvers<unknown>[] = []
  child.on('message', ({ id, ...said }: Said) => ('error' in said ? calls[id]?.reject(said.error) : calls[id]?.resolve(said.answer)))
  child.once('exit', () => {
    for (const { reject } of calls) reject(new Error('process exited'))
  })
  async function kill(): Promise<void> {
    child.kill('SIGKILL')
    const [code, signal] = await gone
    if (signal !== 'SIGKILL') throw new Error(`exited before it was killed: ${signal ?? code}`)
  }
  return {
    tell<D extends keyof CommandHandlers>(deed: D, ...rest: Arguments<D>): Promise<Answer<D>> {
      const call = Promise.withResolvers<unknown>()
      const sent: CommandMessage = { id: calls.push(call) - 1, deed, rest }
      child.send(sent)
      return call.promise as Promise<Answer<D>>
    },
    kill,
    [Symbol.asyncDispose]: kill,
  }
}
