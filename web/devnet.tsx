import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { latency } from '../src/cli/textLayout.ts'
import type { DevnetState, TransactionWay } from '../src/page/state.ts'
import { txPath } from './route.ts'
import { call } from './rpc.ts'

const faults = [
  ['Pause the sequencer for 5 s', 'devnet_pauseSequencer', [5]],
  ['Stop the batcher for 10 s', 'devnet_stopBatcher', [10]],
  ['Damage the next batch', 'devnet_corruptBatch', []],
  ['Replace 2 L1 blocks', 'devnet_reorgL1', [2]],
  ['Cut off L1 for 5 s', 'devnet_dropL1', [5]],
] as const

const stages = ['preconfirmed', 'sealed', 'safe'] as const

/** Position of a time on a scale from 10 ms to a minute, in which each factor of ten has the same width. */
const position = (ms: number): number => Math.min(1, Math.max(0, Math.log10(Math.max(10, ms) / 10) / Math.log10(6_000)))

function WayBar({ way, nowMs }: { readonly way: TransactionWay; readonly nowMs: number }): JSX.Element {
  const [lastKnown] = stages.flatMap((stage) => way[stage] ?? []).toSorted((a, b) => b - a)
  const end = way.safe ?? Math.max(lastKnown ?? 0, nowMs - way.sentMs)
  return (
    <div class={way.safe === null ? 'way under-way' : 'way'}>
      <span class="bar" style={{ width: `${position(end) * 100}%` }} />
      {stages.map((stage) => {
        const ms = way[stage]
        return ms === null ? null : <span key={stage} class={`mark ${stage}`} style={{ left: `${position(ms) * 100}%` }} />
      })}
    </div>
  )
}

const timeText = (ms: number | null): string => (ms === null ? '–' : latency(ms / 1_000))

function Ways({ ways, nowMs }: { readonly ways: readonly TransactionWay[]; readonly nowMs: number }): JSX.Element {
  if (ways.length === 0) return <p class="empty">No transaction yet: basalt devnet tx --to ADDRESS --value 1ether sends one.</p>
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a table that scrolls must be reachable by keyboard
    <section class="scroll" tabIndex={0} aria-label="Way of the newest transactions">
      <table class="ways">
        <thead>
          <tr>
            <th scope="col">Transaction</th>
            {stages.map((stage) => (
              <th key={stage} scope="col" class="number">
                <span class={`key ${stage}`} /> {stage}
              </th>
            ))}
            <th scope="col" class="wide">
              10 ms to 1 min after it was sent
            </th>
          </tr>
        </thead>
        <tbody>
          {ways.toReversed().map((way) => (
            <tr key={way.hash}>
              <td>
                <a href={txPath(way.hash)}>{way.hash.slice(0, 10)}…</a>
              </td>
              {stages.map((stage) => (
                <td key={stage} class="number">
                  {timeText(way[stage])}
                </td>
              ))}
              <td>
                <WayBar way={way} nowMs={nowMs} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

/** Parts of a devnet, its faults as buttons, and the way of its transactions. */
export function Devnet({ devnet, nowMs }: { readonly devnet: DevnetState; readonly nowMs: number }): JSX.Element {
  const [answer, setAnswer] = useState('')
  const inject = (text: string, method: string, params: readonly unknown[]): void => {
    setAnswer(`${text}: sent`)
    call(method, ...params).then(
      () => setAnswer(`${text}: it has begun`),
      (error: unknown) => setAnswer(`${text}: ${error instanceof Error ? error.message : String(error)}`),
    )
  }
  const parts = [
    ['sequencer', devnet.isSequencing ? 'seals blocks' : 'paused'],
    ['batcher', devnet.isPosting ? 'posts' : 'stopped'],
    ['L1', devnet.isL1Reachable ? 'answers' : 'cut off'],
    ['verifier', devnet.agreement],
  ] as const
  return (
    <section class="card">
      <h2>Devnet</h2>
      <p>{parts.map(([name, state]) => `${name} ${state}`).join(' · ')}</p>
      <fieldset>
        <legend>Faults</legend>
        {faults.map(([text, method, params]) => (
          <button key={method} type="button" onClick={() => inject(text, method, params)}>
            {text}
          </button>
        ))}
      </fieldset>
      <p role="status">{answer}</p>
      <h3>Way of the newest transactions</h3>
      <Ways ways={devnet.ways} nowMs={nowMs} />
    </section>
  )
}
