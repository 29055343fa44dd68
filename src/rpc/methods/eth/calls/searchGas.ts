import type { MeasuredCall } from '../../../callPorts.ts'

/** Accepted excess of an estimate over the minimum, as a share. More precision would cost more runs. */
const toleratedShare = 0.015
/** Extra gas of the callee in a call with value. */
const callStipend = 2_300n

/** Outcome of a message with a gas limit. */
type Probe = (gasLimit: bigint) => MeasuredCall | Promise<MeasuredCall>

/**
 * Finds a sufficient gas limit near the minimum. A transaction may need more gas than it uses: refunds come at its end, and each call
 * retains one 64th (EIP-150).
 * @param first outcome of the message with `most` gas: a success
 * @param run runs the message with another gas limit
 */
export async function searchGas(first: MeasuredCall, most: bigint, run: Probe): Promise<bigint> {
  // most messages succeed with what they used before refunds: then one run confirms what the search would find
  const expected = await narrow(first, most, (gasLimit) => (gasLimit < first.gasUsed + first.gasRefunded ? outOfGas(gasLimit) : first))
  const isEnough = expected === most || (await run(expected)).outcome.kind === 'success'
  return isEnough ? expected : await narrow(first, most, run)
}

const outOfGas = (gasLimit: bigint): MeasuredCall => ({
  outcome: { kind: 'halt', reason: 'out of gas' },
  gasUsed: gasLimit,
  gasRefunded: 0n,
})

async function narrow(first: MeasuredCall, most: bigint, probe: Probe): Promise<bigint> {
  let enough = most
  let tooLittle = first.gasUsed - 1n
  let { gasUsed } = first
  const attempt = async (gasLimit: bigint): Promise<void> => {
    const tried = await probe(gasLimit)
    if (tried.gasUsed > 0n) gasUsed = tried.gasUsed
    if (tried.outcome.kind === 'success') enough = gasLimit
    else tooLittle = gasLimit
  }
  const hopeful = ((gasUsed + first.gasRefunded + callStipend) * 64n) / 63n
  if (hopeful < enough) await attempt(hopeful)
  for (let isFirst = true; tooLittle + 1n < enough && Number(enough - tooLittle) / Number(enough) >= toleratedShare; isFirst = false) {
    const middle = (enough + tooLittle) / 2n
    await attempt(isFirst && gasUsed * 3n < middle ? gasUsed * 3n : middle)
  }
  return enough
}
