import { setImmediate as nextTurn } from 'node:timers/promises'
import { batchTooLarge, invalidRequest, type RpcError, responseTooBig } from '../errors.ts'
import { type CostClass, isSubmission } from '../registry.ts'
import type { Caller } from './caller.ts'
import { type Answer, errorText, listOf } from './messages.ts'

/** Cost classes after which a batch yields to the event loop before its next call. */
const heavy: ReadonlySet<CostClass> = new Set(['block-read', 'range-read', 'execution', 'trace'])

export type AnswerLimits = {
  readonly maxBatch: number
  /** bytes of one answer; of a batch, of all its answers together */
  readonly maxResponseBytes: number
}

/** How the calls of a batch are answered. */
export type BatchCalls<By extends Caller> = {
  /** undefined for an unknown method */
  readonly costOf: (item: unknown) => CostClass | undefined
  /** undefined for a notification */
  readonly answerOne: (item: unknown, caller: By) => Answer | undefined | Promise<Answer | undefined>
  readonly refuse: (error: RpcError, caller: By) => Answer
}

/** Groups of items that start together: consecutive submissions form one group, in order; any other item is alone. */
function* groupsOf(items: readonly unknown[], costOf: (item: unknown) => CostClass | undefined): Iterable<readonly unknown[]> {
  let submitted: unknown[] = []
  for (const item of items) {
    if (isSubmission(costOf(item))) {
      submitted.push(item)
      continue
    }
    if (submitted.length > 0) yield submitted
    submitted = []
    yield [item]
  }
  if (submitted.length > 0) yield submitted
}

/** Answers the items of a batch one group after the other. Returns undefined for notifications only, or when the client is gone. */
export async function answerBatch<By extends Caller>(
  items: readonly unknown[],
  caller: By,
  { maxBatch, maxResponseBytes }: AnswerLimits,
  { costOf, answerOne, refuse }: BatchCalls<By>,
): Promise<Answer | undefined> {
  const isHeavy = (item: unknown): boolean => {
    const cost = costOf(item)
    return cost !== undefined && heavy.has(cost)
  }
  if (items.length === 0) return refuse(invalidRequest(), caller)
  if (items.length > maxBatch) return refuse(batchTooLarge(maxBatch), caller)
  let length = 0
  for (const group of groupsOf(items, costOf)) {
    if (caller.isGone) return undefined
    const answered = (await Promise.all(group.map((item) => answerOne(item, caller)))).filter((one) => one !== undefined)
    for (const one of answered) caller.share.keep(one)
    length = answered.reduce((sum, one) => sum + one.length, length)
    if (length > maxResponseBytes) {
      caller.share.takeKept()
      return errorText(null, responseTooBig(maxResponseBytes))
    }
    if (group.some(isHeavy)) await nextTurn()
  }
  const answers = caller.share.takeKept()
  return answers.length === 0 ? undefined : listOf(answers)
}
