import type { MeasuredCall } from '../../../callPorts.ts'

/** Accepted excess of an estimate over the minimum, as a share. More precision would cost more runs. */
const toleratedShare = 0.015
/** Extra gas of the callee in a call with value. */
const callStipend = 2_300n

/** Outcome of a message with a gas limit; a promise when other requests have their turn first. */
type Probe = (gasLimit: bigint) => MeasuredCall | Promise<MeasuredCall>

/**
 * Finds a sufficient gas limit near the minimum. A transaction may need more gas than it uses: refunds come at its end, and each call
 * retains one 64th (EIP-150).
 * @param first outcome of the message with `most` gas: a success
 * @param run runs the message with another gas limit
 * @returns a promise only when more than one run is needed, or the run is one
 */
export function searchGas(first: MeasuredCall, most: bigint, run: Probe): bigint | Promise<bigint> {
  // most messages succeed with what they used before refunds: then one run confirms what the search would find
  const expected = expectedLimit(first, most)
  if (expected === most) return most
  const decide = ({ outcome }: MeasuredCall): bigint | Promise<bigint> =>
    outcome.kind === 'success' ? expected : narrowed(first, most, run)
  const confirming = run(expected)
  return confirming instanceof Promise ? confirming.then(decide) : decide(confirming)
}

const outOfGas = (gasLimit: bigint): MeasuredCall => ({
  outcome: { kind: 'halt', reason: 'out of gas' },
  gasUsed: gasLimit,
  gasRefunded: 0n,
})

/** Returns what the search finds when the message needs the gas that it used before refunds. */
function expectedLimit(first: MeasuredCall, most: bigint): bigint {
  const search = narrowing(first, most)
  for (let step = search.next(); ; ) {
    if (step.done) return step.value
    step = search.next(step.value < first.gasUsed + first.gasRefunded ? outOfGas(step.value) : first)
  }
}

async function narrowed(first: MeasuredCall, most: bigint, run: Probe): Promise<bigint> {
  const search = narrowing(first, most)
  for (let step = search.next(); ; ) {
    if (step.done) return step.value
    step = search.next(await run(step.value))
  }
}

/** Yields the gas limits to try, takes the outcome of each, and returns the limit that is enough. */
function* narrowing(first: MeasuredCall, most: bigint): Generator<bigint, bigint, MeasuredCall> {
  let enough = most
  let tooLittle = first.gasUsed - 1n
  let { gasUsed } = first
  for (let limit = ((gasUsed + first.gasRefunded + callStipend) * 64n) / 63n, isHopeful = true; ; ) {
    if (limit < enough) {
      const tried = yield limit
      if (tried.gasUsed > 0n) gasUsed = tried.gasUsed
      if (tried.outcome.kind === 'success') enough = limit
      else tooLittle = limit
    }
    const isNear = tooLittle + 1n >= enough || Number(enough - tooLittle) / Number(enough) < toleratedShare
    if (isNear) return enough
    const middle = (enough + tooLittle) / 2n
    limit = isHopeful && gasUsed * 3n < middle ? gasUsed * 3n : middle
    isHopeful = false
  }
}
