import type { JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { Charts } from './charts.tsx'
import { Devnet } from './devnet.tsx'
import { BlockView, LookupForm, TransactionView } from './lookup.tsx'
import { Header, Overview } from './overview.tsx'
import { type Shown, usePageState } from './pageState.ts'
import { type Route, useRoute } from './route.ts'
import { Stream } from './stream.tsx'

function Contents({ shown, route }: { readonly shown: Shown; readonly route: Route }): JSX.Element {
  if (route.kind === 'block') return <BlockView id={route.id} />
  if (route.kind === 'tx') return <TransactionView hash={route.hash} />
  return (
    <>
      <Overview state={shown.last} />
      {shown.last.devnet && <Devnet devnet={shown.last.devnet} nowMs={shown.last.sample.timeMs} />}
      <Charts shown={shown} />
      {shown.last.hasBlocks && <Stream entries={shown.stream} />}
    </>
  )
}

export function App(): JSX.Element {
  const { shown, failure } = usePageState()
  const route = useRoute()
  const main = useRef<HTMLElement>(null)
  const key = JSON.stringify(route)
  const isFirst = useRef(true)
  // a new view begins at its top, also for the keyboard and a screen reader
  useEffect(() => {
    if (!isFirst.current) main.current?.focus()
    isFirst.current = false
    scrollTo(0, 0)
  }, [key])
  return (
    <>
      <button type="button" class="skip" onClick={() => main.current?.focus()}>
        Skip to the contents
      </button>
      <Header state={shown?.last} failure={failure} />
      <main ref={main} tabIndex={-1}>
        {shown?.last.hasBlocks && <LookupForm />}
        {shown ? (
          <Contents shown={shown} route={route} />
        ) : (
          <p class="empty">{failure === undefined ? 'Reading the node …' : 'The node does not answer.'}</p>
        )}
      </main>
    </>
  )
}
