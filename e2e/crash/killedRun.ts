import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { rpcCall } from '#test/harness/process/cliProcess'

export type Block = { readonly number: number; readonly hash: string }

/**
 * Time of a kill: milliseconds after the store is open, or during the next commit after that, or `afterCommitMs` after the end of that commit, when older
 * states are removed; or when the RPC shows a block or a later one.
 */
export type Aim = { readonly afterMs: number; readonly inCommit: boolean; readonly afterCommitMs?: number } | { readonly atBlock: number }

/** Reports of one process until it was killed or ended. */
export type Run = {
  readonly openMs: number | undefined
  /** processor time of these */
  readonly openCpuMs: number | undefined
  /** last report of the oldest state; undefined for an import */
  readonly oldest: number | undefined
  /** every head that it acknowledged: a line after a commit, or an RPC response */
  readonly shown: readonly Block[]
  readonly done: Block | undefined
  /** the kill was during a commit */
  readonly wasInCommit: boolean
  readonly stderr: string
  /** blocks that earlier runs acknowledged and the RPC does not return */
  readonly missing: readonly Block[]
}

type State = {
  openMs?: number
  openCpuMs?: number
  oldest?: number
  shown: Block[]
  done?: Block
  inCommit: boolean
  url?: string
  missing: Block[]
}

function take(state: State, message: string): void {
  const [what = '', a = '', b = ''] = message.split(' ')
  if (what === 'open') [state.openMs, state.openCpuMs] = [Number(a), Number(b)]
  if (what === 'oldest') state.oldest = Number(a)
  if (what === 'begin') state.inCommit = true
  if (what === 'end') state.inCommit = false
  if (what === 'head') state.shown.push({ number: Number(a), hash: b })
  if (what === 'done') state.done = { number: Number(a), hash: b }
  if (what === 'serving') state.url = a
}

type RpcBlock = { number: string; hash: string } | null

/** Polls the newest block, after requesting the blocks that earlier processes acknowledged. */
async function watch(state: State, before: readonly Block[], isOver: () => boolean, onHead: (number: number) => void): Promise<void> {
  const { url } = state
  if (url === undefined) return
  try {
    for (const block of before) {
      const found = (await rpcCall(url, 'eth_getBlockByNumber', [`0x${block.number.toString(16)}`, false])) as RpcBlock
      if (found?.hash !== block.hash) state.missing.push(block)
    }
    while (!isOver()) {
      const head = (await rpcCall(url, 'eth_getBlockByNumber', ['latest', false])) as RpcBlock
      if (!head) continue
      state.shown.push({ number: Number(head.number), hash: head.hash })
      onHead(Number(head.number))
    }
  } catch (error) {
    if (!isOver()) throw error
  }
}

/**
 * Runs the child until it is done, or kills it (SIGKILL) at the given time.
 * @param before blocks that earlier runs acknowledged, to request
 */
export async function killedRun(args: readonly string[], aim: Aim | undefined, before: readonly Block[]): Promise<Run> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'child.ts'), ...args], {
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
  })
  const state: State = { shown: [], inCommit: false, missing: [] }
  let [stderr, pending, isOver, isArmed] = ['', '', false, false]
  let watching: Promise<void> = Promise.resolve()
  const kill = (): void => {
    isOver = true
    child.kill('SIGKILL')
  }
  const arm = (): void => {
    isArmed = true
  }
  const onHead = (number: number): void => {
    if (aim && 'atBlock' in aim && number >= aim.atBlock && !isOver) kill()
  }
  const afterCommitMs = aim && 'afterMs' in aim ? aim.afterCommitMs : undefined
  const onOpen = (): void => {
    if (aim && 'afterMs' in aim) setTimeout(aim.inCommit || afterCommitMs !== undefined ? arm : kill, aim.afterMs)
  }
  const onCommit = (phase: string): void => {
    if (!isArmed || isOver) return
    if (phase === 'begin' && afterCommitMs === undefined) kill()
    if (phase === 'end' && afterCommitMs !== undefined) setTimeout(kill, afterCommitMs)
  }
  const onMessage = (message: string): void => {
    take(state, message)
    if (message.startsWith('open')) onOpen()
    if (message.startsWith('serving')) watching = watch(state, before, () => isOver, onHead)
    if (message === 'begin' || message === 'end') onCommit(message)
    if (message.startsWith('done') && args[0] !== 'import') setTimeout(kill, aim ? 0 : 300)
  }
  child.stderr?.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
  const pipe = child.stdio[3] as Readable
  pipe.on('data', (chunk: Buffer) => {
    const lines = (pending + chunk.toString()).split('\n')
    pending = lines.pop() ?? ''
    lines.forEach(onMessage)
  })
  await once(child, 'close')
  isOver = true
  await watching
  const { openMs, openCpuMs, oldest, shown, done, inCommit, missing } = state
  return { openMs, openCpuMs, oldest, shown, done, wasInCommit: inCommit, stderr, missing }
}
