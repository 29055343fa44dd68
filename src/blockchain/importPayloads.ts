import { z } from 'zod'
import type { ExecutionConfig } from '#block/executionConfig'
import { executionFault } from '#block/faults'
import { l2RefOf } from '#chainspec/l2Ref'
import { hashField, parseFields } from '#engine/jsonFields'
import { parsePayload } from '#engine/payloadJson'
import { isFault } from '#lib/fault'
import type { Payload } from '#types/payload'
import type { Execution } from './execution.ts'

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
 * Validates payloads one after another and makes each the unsafe head; the safe and finalized heads stay. Commits the imported blocks at the end, also
 * after an error. An interrupted import continues when it is run again with the same file.
 * @param onBlock called with each acknowledged payload
 * @throws Fault INVALID_BLOCK, BAD_LINE (fatal), UNKNOWN_PARENT (reset), and those of `Execution.commit`
 */
export async function importPayloads(
  execution: Execution,
  config: ExecutionConfig,
  lines: Iterable<string> | AsyncIterable<string>,
  onBlock?: (payload: Payload) => void,
): Promise<ImportResult> {
  const result = { imported: 0, skipped: 0, gas: 0n }
  let number = 0
  try {
    for await (const line of lines) {
      number++
      if (line.trim() === '') continue
      const payload = parseLine(line, number)
      if (isCanonical(execution, payload)) {
        result.skipped++
        continue
      }
      await importOne(execution, config, payload)
      result.imported++
      result.gas += payload.gasUsed
      onBlock?.(payload)
    }
  } finally {
    execution.commit()
  }
  return result
}

async function importOne(execution: Execution, config: ExecutionConfig, payload: Payload): Promise<void> {
  const inserted = execution.insertPayload(payload)
  if (inserted.kind === 'invalid') throw executionFault('INVALID_BLOCK', { number: payload.blockNumber, reason: inserted.reason })
  await execution.setHeads({ ...(await execution.heads()), unsafe: l2RefOf(config, payload) })
}

function isCanonical(execution: Execution, payload: Payload): boolean {
  using view = execution.view()
  return view.canonicalHash(payload.blockNumber) === payload.blockHash
}
