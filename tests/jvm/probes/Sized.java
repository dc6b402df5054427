import io.jaywalk.probe.OnEntry;
import io.jaywalk.probe.Probe;

/** In classes of all sizes. */
@Probe(name = "sized")
public class Sized {
    private Sized() {}

    /** At the entry. */
    @OnEntry("include class name=Large|Sizes method name=work")
    public static void entered() {}
}
