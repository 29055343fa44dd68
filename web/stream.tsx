import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { count } from '../src/cli/textLayout.ts'
import type { StreamEntry } from '../src/page/state.ts'
import { blockPath } from './route.ts'

const timeOf = (ms: number): string => new Date(ms).toISOString().slice(11, 23)

/** Blocks and flashblocks as they arrive, newest first. */
export function Stream({ entries }: { readonly entries: readonly StreamEntry[] }): JSX.Element {
  const [held, setHeld] = useState<readonly StreamEntry[]>()
  const rows = (held ?? entries).slice(0, 25)
  return (
    <section class="card">
      <div class="title">
        <h2>Blocks and flashblocks</h2>
        <button type="button" aria-pressed={held !== undefined} onClick={() => setHeld(held === undefined ? entries : undefined)}>
          Hold
        </button>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a table that scrolls must be reachable by keyboard */}
      <section class="scroll" tabIndex={0} aria-label="List of blocks and flashblocks">
        <table>
          <thead>
            <tr>
              <th scope="col">Block</th>
              <th scope="col" class="number">
                Flashblock
              </th>
              <th scope="col" class="number">
                Transactions
              </th>
              <th scope="col" class="number">
                Gas used
              </th>
              <th scope="col" class="number">
                Arrived (UTC)
              </th>
            </tr>
          </thead>
          <tbody>
            {rows.map((entry) => (
              <tr key={entry.seq}>
                <td>{entry.hash === null ? count(entry.number) : <a href={blockPath(entry.hash)}>{count(entry.number)}</a>}</td>
                <td class="number">{entry.index ?? ''}</td>
                <td class="number">{count(entry.transactions)}</td>
                <td class="number">{count(entry.gasUsed)}</td>
                <td class="number">{timeOf(entry.timeMs)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {rows.length === 0 && <p class="empty">No block has arrived since this page was opened.</p>}
    </section>
  )
}
