import { setImmediate as nextTurn } from 'node:timers/promises'
import { z } from 'zod'
import type { SendersAhead } from '#block/execution/senders'
import type { ExecutionConfig } from '#block/executionConfig'
import { executionFault } from '#block/faults'
import { l2RefOf } from '#chainspec/l2Ref'
import { hashField, parseFields } from '#engine/jsonFields'
import { parsePayload } from '#engine/payloadJson'
import { isFault } from '#lib/fault'
import type { Payload } from '#types/payload'
import type { Execution } from './execution.ts'

/** Bounds of the payloads that are read ahead of execution: characters of their lines, and payloads. */
const [maxAheadChars, maxAhead] = [16 * 2 ** 20, 64]

export type ImportOptions = {
  /** Called with each executed payload, and the executed part of what has been read, from 0 to 1. */
  readonly onBlock?: (payload: Payload, part: number) => void
  /** Begins to recover senders in other threads. Disposing of the result ends that. */
  readonly recoverAhead?: (transactions: readonly Uint8Array[]) => (SendersAhead & Disposable) | undefined
  /** Ends the import before the next payload. */
  readonly signal?: AbortSignal
}

/** A payload that waits for its execution. */
type Waiting = {
  readonly payload: Payload
  /** characters of the file up to the end of its line */
  readonly toChar: number
  readonly senders: (SendersAhead & Disposable) | undefined
}

/** Result of an import. Skipped blocks were canonical already. Gas is that of the imported blocks. */
export type ImportResult = { readonly imported: number; readonly skipped: number; readonly gas: bigint }

const lineFields = z.object({ p: z.unknown(), root: hashField.nullish() })

/**
 * Parses one line of a payload file: `{"p": execution payload, "root": parent beacon block root}`.
 * @param number of the line, for the message
 * @throws Fault BAD_LINE (fatal)
 */
function parseLine(line: string, number: number): Payload {
  try {
    const { p, root } = parseFields(lineFields, JSON.parse(line), 'line')
    return parsePayload(p, root ?? undefined)
  } catch (error) {
    if (error instanceof SyntaxError) throw executionFault('BAD_LINE', { line: number, reason: 'not JSON' }, error)
    if (isFault(error, 'MALFORMED_PAYLOAD')) throw executionFault('BAD_LINE', { line: number, reason: error.message }, error)
    throw error
  }
}

/**
 * Validates payloads one after another and makes each the unsafe head; the safe and finalized heads stay. Reads lines ahead, so that senders are recovered
 * before their payload's turn. Commits the imported blocks at the end, also after an error. An interrupted import continues when it is run again with the
 * same file.
 * @throws Fault INVALID_BLOCK, BAD_LINE (fatal), UNKNOWN_PARENT (reset), and those of `Execution.commit`
 */
export async function importPayloads(
  execution: Execution,
  config: ExecutionConfig,
  lines: Iterable<string> | AsyncIterable<string>,
  { onBlock, recoverAhead, signal }: ImportOptions = {},
): Promise<ImportResult> {
  const result = { imported: 0, skipped: 0, gas: 0n }
  const recover = (payload: Payload): Waiting['senders'] =>
    isCanonical(execution, payload) ? undefined : recoverAhead?.(payload.transactions)
  try {
    for await (const { payload, senders, part } of readAhead(lines, recover, signal)) {
      using _senders = senders
      if (signal?.aborted) break
      if (isCanonical(execution, payload)) {
        result.skipped++
        continue
      }
      await importOne(execution, config, payload, senders)
      result.imported++
      result.gas += payload.gasUsed
      onBlock?.(payload, part)
      // lets signals and commits in
      await nextTurn()
    }
  } finally {
    execution.commit()
  }
  return result
}

/**
 * Yields the payloads of the lines in order, after reading ahead. `part`: its place in what has been read, from 0 to 1. An error of reading is thrown
 * after the payloads before it. An abort ends it at once.
 */
async function* readAhead(
  lines: Iterable<string> | AsyncIterable<string>,
  recover: (payload: Payload) => Waiting['senders'],
  signal: AbortSignal | undefined,
): AsyncGenerator<Waiting & { readonly part: number }> {
  const waiting: Waiting[] = []
  let [number, readTo, yieldedTo] = [0, 0, 0]
  let failure: { readonly error: unknown } | undefined
  const takeFirst = (): readonly (Waiting & { readonly part: number })[] => {
    const first = waiting.splice(0, 1)
    yieldedTo = first[0]?.toChar ?? yieldedTo
    return first.map((one) => ({ ...one, part: one.toChar / readTo }))
  }
  try {
    try {
      for await (const line of lines) {
        if (signal?.aborted) return
        number++
        readTo += line.length + 1
        if (line.trim() === '') continue
        const payload = parseLine(line, number)
        waiting.push({ payload, toChar: readTo, senders: recover(payload) })
        while (waiting.length > maxAhead || readTo - yieldedTo > maxAheadChars) yield* takeFirst()
      }
    } catch (error) {
      failure = { error }
    }
    while (waiting.length > 0) yield* takeFirst()
    if (failure) throw failure.error
  } finally {
    for (const { senders } of waiting) senders?.[Symbol.dispose]()
  }
}

async function importOne(execution: Execution, config: ExecutionConfig, payload: Payload, senders?: SendersAhead): Promise<void> {
  const inserted = execution.insertPayload(payload, senders)
  if (inserted.kind === 'invalid') throw executionFault('INVALID_BLOCK', { number: payload.blockNumber, reason: inserted.reason })
  await execution.setHeads({ ...(await execution.heads()), unsafe: l2RefOf(config, payload) })
}

function isCanonical(execution: Execution, payload: Payload): boolean {
  using view = execution.view()
  return view.canonicalHash(payload.blockNumber) === payload.blockHash
}
